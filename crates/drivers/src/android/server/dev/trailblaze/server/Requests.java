package dev.trailblaze.server;

import android.graphics.Bitmap;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.Charset;

/** Requests and their answers, one after the other. README.md describes their bytes. */
public final class Requests {
    private static final Charset UTF_8 = Charset.forName("UTF-8");
    private static final int DONE = 0;
    private static final int REFUSED = 1;
    /** The largest request, in bytes. */
    private static final int LARGEST = 1024 * 1024;

    private final Device device;

    public Requests(Device device) {
        this.device = device;
    }

    /** Answers until the client closes the connection. */
    public void answer(InputStream from, OutputStream to) throws IOException {
        DataInputStream requests = new DataInputStream(from);
        while (true) {
            int length;
            try {
                length = requests.readInt();
            } catch (EOFException end) {
                return;
            }
            if (length < 1 || length > LARGEST) {
                return;
            }
            byte[] request = new byte[length];
            requests.readFully(request);
            send(to, request);
        }
    }

    private void send(OutputStream to, byte[] request) throws IOException {
        int status = DONE;
        byte[] content;
        try {
            content = answerTo(new DataInputStream(new java.io.ByteArrayInputStream(request)));
        } catch (Throwable error) {
            status = REFUSED;
            content = describe(error).getBytes(UTF_8);
        }
        // In one piece, so that it is not sent in two packets.
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(content.length + 5);
        DataOutputStream answer = new DataOutputStream(bytes);
        answer.writeInt(content.length + 1);
        answer.writeByte(status);
        answer.write(content);
        to.write(bytes.toByteArray());
        to.flush();
    }

    private byte[] answerTo(DataInputStream request) throws Exception {
        int kind = request.readUnsignedByte();
        switch (kind) {
            case 'T':
                device.waitForIdle(request.readInt(), request.readInt());
                return new TreeWriter(device).write().getBytes(UTF_8);
            case 'P':
                return picture();
            case 'G':
                Gesture.read(request).perform(device);
                break;
            case 'K':
                new Keyboard(device).press(text(request).split(" "));
                break;
            case 'I':
                new Keyboard(device).type(text(request));
                break;
            case 'R':
                new Keyboard(device).replace(text(request));
                break;
            default:
                throw new Refusal("there is no request " + kind);
        }
        return new byte[0];
    }

    private byte[] picture() {
        Bitmap bitmap = device.picture();
        if (bitmap == null) {
            throw new Refusal("Android gave no picture");
        }
        ByteArrayOutputStream png = new ByteArrayOutputStream();
        boolean isWritten = bitmap.compress(Bitmap.CompressFormat.PNG, 100, png);
        bitmap.recycle();
        if (!isWritten) {
            throw new Refusal("Android could not compress the picture");
        }
        return png.toByteArray();
    }

    private static String text(DataInputStream request) throws IOException {
        byte[] bytes = new byte[request.available()];
        request.readFully(bytes);
        return new String(bytes, UTF_8);
    }

    static String describe(Throwable error) {
        if (error instanceof InvocationTargetException && error.getCause() != null) {
            return describe(error.getCause());
        }
        if (error instanceof Refusal) {
            return error.getMessage();
        }
        return error.toString();
    }

    /** Why a request is not carried out, in words for people. */
    static final class Refusal extends RuntimeException {
        Refusal(String message) {
            super(message);
        }
    }
}
