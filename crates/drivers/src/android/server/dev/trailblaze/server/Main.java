package dev.trailblaze.server;

import android.net.LocalServerSocket;
import android.net.LocalSocket;
import android.os.Looper;
import java.io.File;
import java.io.IOException;

/**
 * Answers one client on a socket until either side ends. Started by `app_process`, with the name of the socket as its argument. It prints
 * `ready` once it listens, or else `failed:` and why.
 */
public final class Main {
    /** The users that may connect: root and the shell, one of which adbd is. */
    private static final int ROOT = 0;
    private static final int SHELL = 2000;
    /** How long it waits for its client, in milliseconds. */
    private static final long PATIENCE = 20000;

    private static volatile boolean isConnected;

    private Main() {}

    public static void main(String[] arguments) {
        // What runs is in memory now, and nothing shall stay on the phone.
        String file = System.getenv("CLASSPATH");
        if (file != null) {
            new File(file).delete();
        }
        // Some classes of the framework expect one.
        Looper.prepareMainLooper();
        endWith(System.in);
        try {
            serve(arguments[0]);
        } catch (Throwable error) {
            System.out.println("failed: " + Requests.describe(error));
        }
        end();
    }

    private static void serve(String name) throws Exception {
        AutomationDevice device = AutomationDevice.connect();
        LocalServerSocket listener = new LocalServerSocket(name);
        System.out.println("ready");
        endUnlessConnected();
        LocalSocket client = accept(listener);
        isConnected = true;
        listener.close();
        try {
            new Requests(device).answer(client.getInputStream(), client.getOutputStream());
        } finally {
            device.disconnect();
        }
    }

    /** Apps of the phone may find the name of the socket, but they are other users. */
    private static LocalSocket accept(LocalServerSocket listener) throws IOException {
        while (true) {
            LocalSocket client = listener.accept();
            int user = client.getPeerCredentials().getUid();
            if (user == ROOT || user == SHELL) {
                return client;
            }
            client.close();
        }
    }

    /** The standard input ends when the connection of adb does. */
    private static void endWith(final java.io.InputStream input) {
        start(new Runnable() {
            @Override
            public void run() {
                try {
                    while (input.read() >= 0) {
                        // Nothing is expected.
                    }
                } catch (IOException error) {
                    // It has ended.
                }
                end();
            }
        });
    }

    private static void endUnlessConnected() {
        start(new Runnable() {
            @Override
            public void run() {
                try {
                    Thread.sleep(PATIENCE);
                } catch (InterruptedException error) {
                    return;
                }
                if (!isConnected) {
                    end();
                }
            }
        });
    }

    private static void start(Runnable work) {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        thread.start();
    }

    /** At once, whatever other threads do. Android drops the connection of a process that is gone. */
    private static void end() {
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }
}
