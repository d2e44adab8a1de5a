package dev.trailblaze.server;

import android.os.SystemClock;
import android.view.InputDevice;
import android.view.MotionEvent;
import java.io.DataInputStream;
import java.io.IOException;

/** One or more fingers that touch the screen, rest, move in straight lines and leave it. */
public final class Gesture {
    private static final int MOST_FINGERS = 10;
    private static final int MOST_TIMES = 10;
    /** The longest gesture, in milliseconds. */
    private static final long LONGEST = 60000;
    /** The time between two positions, and between two taps. */
    private static final long STEP = 10;
    private static final long BETWEEN = 80;

    private final int times;
    private final long rest;
    private final long duration;
    /** For each finger, where it starts and where it ends: x, y, x, y. */
    private final int[][] fingers;
    private long since;

    private Gesture(int times, long rest, long duration, int[][] fingers) {
        this.times = times;
        this.rest = rest;
        this.duration = duration;
        this.fingers = fingers;
    }

    static Gesture read(DataInputStream request) throws IOException {
        int times = request.readUnsignedByte();
        int rest = request.readInt();
        int duration = request.readInt();
        int count = request.readUnsignedByte();
        boolean isLong = rest < 0 || rest > LONGEST || duration < 0 || duration > LONGEST;
        if (times < 1 || times > MOST_TIMES || isLong || count < 1 || count > MOST_FINGERS) {
            throw new Requests.Refusal("there is no such gesture");
        }
        int[][] fingers = new int[count][4];
        for (int[] finger : fingers) {
            for (int at = 0; at < finger.length; at++) {
                finger[at] = request.readInt();
            }
        }
        return new Gesture(times, rest, duration, fingers);
    }

    void perform(Device device) {
        for (int time = 0; time < times; time++) {
            if (time > 0) {
                device.pause(BETWEEN);
            }
            once(device);
        }
    }

    private void once(Device device) {
        since = SystemClock.uptimeMillis();
        for (int finger = 0; finger < fingers.length; finger++) {
            send(device, finger == 0 ? MotionEvent.ACTION_DOWN : pointer(MotionEvent.ACTION_POINTER_DOWN, finger), finger + 1, 0);
        }
        if (rest > 0) {
            device.pause(rest);
        }
        if (duration > 0) {
            move(device);
        }
        for (int finger = fingers.length - 1; finger >= 0; finger--) {
            send(device, finger == 0 ? MotionEvent.ACTION_UP : pointer(MotionEvent.ACTION_POINTER_UP, finger), finger + 1, 1);
        }
    }

    private void move(Device device) {
        long start = SystemClock.uptimeMillis();
        float part = 0;
        while (part < 1) {
            device.pause(STEP);
            part = Math.min(1, (SystemClock.uptimeMillis() - start) / (float) duration);
            send(device, MotionEvent.ACTION_MOVE, fingers.length, part);
        }
    }

    private static int pointer(int action, int finger) {
        return action | finger << MotionEvent.ACTION_POINTER_INDEX_SHIFT;
    }

    /** Sends where the fingers are after this part of the way. */
    private void send(Device device, int action, int count, float part) {
        MotionEvent.PointerProperties[] properties = new MotionEvent.PointerProperties[count];
        MotionEvent.PointerCoords[] places = new MotionEvent.PointerCoords[count];
        for (int finger = 0; finger < count; finger++) {
            int[] way = fingers[finger];
            properties[finger] = new MotionEvent.PointerProperties();
            properties[finger].id = finger;
            properties[finger].toolType = MotionEvent.TOOL_TYPE_FINGER;
            places[finger] = new MotionEvent.PointerCoords();
            places[finger].x = way[0] + (way[2] - way[0]) * part;
            places[finger].y = way[1] + (way[3] - way[1]) * part;
            places[finger].pressure = 1;
            places[finger].size = 1;
        }
        MotionEvent event = MotionEvent.obtain(since, SystemClock.uptimeMillis(), action, count, properties, places,
                0, 0, 1, 1, 0, 0, InputDevice.SOURCE_TOUCHSCREEN, 0);
        boolean isDelivered = device.inject(event);
        event.recycle();
        if (!isDelivered) {
            throw new Requests.Refusal("Android did not deliver the touch; the point may be outside of the screen");
        }
    }
}
