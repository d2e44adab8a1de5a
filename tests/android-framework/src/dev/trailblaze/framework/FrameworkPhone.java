package dev.trailblaze.framework;

import android.app.Activity;
import android.app.Application;
import android.content.ComponentName;
import android.content.Intent;
import android.content.pm.ResolveInfo;
import android.view.WindowManagerGlobal;
import android.view.accessibility.AccessibilityManager;
import dev.trailblaze.server.Requests;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Paths;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.Test;
import org.junit.runner.JUnitCore;
import org.junit.runner.Result;
import org.junit.runner.RunWith;
import org.junit.runner.notification.Failure;
import org.robolectric.Robolectric;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.Shadows;
import org.robolectric.android.controller.ActivityController;
import org.robolectric.annotation.Config;
import org.robolectric.annotation.GraphicsMode;
import org.robolectric.annotation.LooperMode;
import org.robolectric.shadows.ShadowActivity;
import org.robolectric.shadows.ShadowChoreographer;
import org.robolectric.shadows.ShadowView;

/**
 * The body of a phone: an app in the real Android framework on a JVM. The stack of activities is ours, because there is no system. It
 * answers the requests of the server for phones on a socket, and three more: `S` starts an activity, `X` ends all of them, `D` is what
 * `uiautomator dump` prints. Ends with its standard input.
 */
@RunWith(RobolectricTestRunner.class)
@Config(sdk = 34, qualifiers = "w411dp-h914dp-port-420dpi")
@GraphicsMode(GraphicsMode.Mode.NATIVE)
@LooperMode(LooperMode.Mode.PAUSED)
public class FrameworkPhone {
    /** An activity that was started, and by whom. */
    private static final class Started {
        final ActivityController<? extends Activity> controller;
        final Intent intent;
        final int code;

        Started(ActivityController<? extends Activity> controller, Intent intent, int code) {
            this.controller = controller;
            this.intent = intent;
            this.code = code;
        }

        Activity activity() {
            return controller.get();
        }
    }

    private static final class Question {
        final byte[] request;
        final CompletableFuture<byte[]> answer = new CompletableFuture<>();

        Question(byte[] request) {
            this.request = request;
        }
    }

    private final Deque<Started> stack = new ArrayDeque<>();
    private final BlockingQueue<Question> questions = new LinkedBlockingQueue<>();
    private Application app;

    public static void main(String[] arguments) {
        System.setProperty("phone.socket", arguments[0]);
        Thread input = new Thread(() -> {
            try {
                while (System.in.read() >= 0) {
                    // Nothing is expected.
                }
            } catch (java.io.IOException error) {
                // It has ended.
            }
            Runtime.getRuntime().halt(0);
        });
        input.setDaemon(true);
        input.start();
        Result result = JUnitCore.runClasses(FrameworkPhone.class);
        for (Failure failure : result.getFailures()) {
            System.err.println(failure.getTrace());
        }
        System.exit(1);
    }

    @Test
    public void serve() throws Exception {
        ShadowView.setUseRealViewAnimations(true);
        ShadowChoreographer.setPaused(true);
        ShadowChoreographer.setFrameDelay(Duration.ofMillis(16));
        app = RuntimeEnvironment.getApplication();
        Shadows.shadowOf(app.getSystemService(AccessibilityManager.class)).setEnabled(true);
        ServerSocketChannel listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        listener.bind(UnixDomainSocketAddress.of(Paths.get(System.getProperty("phone.socket"))));
        background(() -> {
            while (true) {
                SocketChannel client = listener.accept();
                background(() -> {
                    converse(client);
                    return null;
                });
            }
        });
        showHome();
        System.out.println("ready");
        long last = System.nanoTime();
        while (true) {
            Question question = questions.poll(15, TimeUnit.MILLISECONDS);
            long now = System.nanoTime();
            FrameworkDevice.pass((now - last) / 1000000);
            last = now;
            settle();
            if (question != null) {
                try {
                    question.answer.complete(answer(question.request));
                } catch (Throwable error) {
                    error.printStackTrace();
                    question.answer.complete(message(1, error.toString().getBytes(StandardCharsets.UTF_8)));
                }
            }
        }
    }

    private interface Work {
        Void run() throws Exception;
    }

    private static void background(Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (Exception error) {
                // A client is gone.
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    /** Passes the requests of a client to the main thread, one at a time. */
    private void converse(SocketChannel client) throws Exception {
        try (InputStream in = Channels.newInputStream(client); OutputStream out = Channels.newOutputStream(client)) {
            DataInputStream requests = new DataInputStream(in);
            while (true) {
                byte[] request = new byte[requests.readInt()];
                requests.readFully(request);
                Question question = new Question(request);
                questions.add(question);
                out.write(question.answer.get());
                out.flush();
            }
        }
    }

    private byte[] answer(byte[] request) throws Exception {
        String text = new String(request, 1, request.length - 1, StandardCharsets.UTF_8);
        switch (request[0]) {
            case 'S':
                start(new Intent(Intent.ACTION_MAIN).setComponent(ComponentName.unflattenFromString(text)), -1);
                FrameworkDevice.pass(300);
                return message(0, new byte[0]);
            case 'X':
                while (!stack.isEmpty()) {
                    close(stack.pop());
                }
                showHome();
                return message(0, new byte[0]);
            case 'D':
                return message(0, new Dump(device()).print().getBytes(StandardCharsets.UTF_8));
            default:
                ByteArrayOutputStream answer = new ByteArrayOutputStream();
                ByteArrayOutputStream framed = new ByteArrayOutputStream();
                DataOutputStream writer = new DataOutputStream(framed);
                writer.writeInt(request.length);
                writer.write(request);
                new Requests(device()).answer(new ByteArrayInputStream(framed.toByteArray()), answer);
                // What a touch or a key started is over when the answer comes, as on a phone without animations.
                if (request[0] != 'T' && request[0] != 'P') {
                    FrameworkDevice.pass(400);
                    settle();
                    FrameworkDevice.pass(100);
                }
                return answer.toByteArray();
        }
    }

    private static byte[] message(int status, byte[] content) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream writer = new DataOutputStream(bytes);
        writer.writeInt(content.length + 1);
        writer.writeByte(status);
        writer.write(content);
        return bytes.toByteArray();
    }

    private FrameworkDevice device() {
        return new FrameworkDevice(app);
    }

    /** A phone always shows something: an empty activity stands for the launcher. */
    private void showHome() throws Exception {
        start(new Intent(Intent.ACTION_MAIN).setComponent(new ComponentName(app, Activity.class)), -1);
        FrameworkDevice.pass(100);
    }

    private void start(Intent intent, int code) throws Exception {
        ComponentName component = intent.getComponent();
        if (component == null) {
            ResolveInfo found = app.getPackageManager().resolveActivity(intent, 0);
            if (found == null) {
                throw new IllegalArgumentException("no activity for " + intent);
            }
            component = new ComponentName(found.activityInfo.packageName, found.activityInfo.name);
        }
        Class<? extends Activity> type = Class.forName(component.getClassName()).asSubclass(Activity.class);
        Started before = stack.peek();
        if (before != null) {
            focus(before, false);
            before.controller.topActivityResumed(false);
            before.controller.pause();
        }
        Started started = new Started(Robolectric.buildActivity(type, intent), intent, code);
        stack.push(started);
        started.controller.create().start().postCreate(null).resume().visible();
        FrameworkDevice.pass(48);
        started.controller.topActivityResumed(true);
        focus(started, true);
        if (before != null) {
            before.controller.stop();
        }
    }

    private static void focus(Started started, boolean hasFocus) {
        if (started.activity().getWindow().getDecorView().getViewRootImpl() != null) {
            started.controller.windowFocusChanged(hasFocus);
        }
    }

    /** Ends activities that are finished, and starts those that were asked for. */
    private void settle() throws Exception {
        for (int round = 0; round < 20; round++) {
            Started top = stack.peek();
            if (top == null) {
                return;
            }
            if (top.activity().isFinishing()) {
                finish(stack.pop());
            } else {
                ShadowActivity.IntentForResult wanted = Shadows.shadowOf(top.activity()).getNextStartedActivityForResult();
                if (wanted == null) {
                    return;
                }
                start(wanted.intent, wanted.requestCode);
            }
            FrameworkDevice.pass(16);
        }
    }

    private void finish(Started top) {
        ShadowActivity shadow = Shadows.shadowOf(top.activity());
        top.controller.pause();
        Started below = stack.peek();
        if (below != null) {
            if (top.code >= 0) {
                Shadows.shadowOf(below.activity()).receiveResult(top.intent, shadow.getResultCode(), shadow.getResultIntent());
            }
            below.controller.restart().start().resume().visible();
            below.controller.topActivityResumed(true);
            focus(below, true);
        }
        android.os.IBinder token = top.activity().getActivityToken();
        top.controller.stop().destroy();
        WindowManagerGlobal.getInstance().closeAll(token, top.activity().getClass().getName(), "Activity");
    }

    private static void close(Started started) {
        android.os.IBinder token = started.activity().getActivityToken();
        started.controller.close();
        WindowManagerGlobal.getInstance().closeAll(token, started.activity().getClass().getName(), "Activity");
    }
}
