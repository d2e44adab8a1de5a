package dev.trailblaze.server;

import android.graphics.Bitmap;
import android.graphics.Rect;
import android.os.Bundle;
import android.view.InputEvent;
import android.view.accessibility.AccessibilityNodeInfo;
import java.util.List;

/** What the server needs of the device that it runs on. */
public abstract class Device {
    /** Waits until nothing changed for so many milliseconds, but no longer than the second number says. */
    public abstract void waitForIdle(long quiet, long limit);

    /** The roots of the window that has the focus and of the windows in front of it, in this order. Empty if no window has it. */
    public abstract List<AccessibilityNodeInfo> roots();

    /** A child of an element; null if it is gone. */
    public abstract AccessibilityNodeInfo child(AccessibilityNodeInfo parent, int index);

    /** The element that has the focus; null if none has it. */
    public abstract AccessibilityNodeInfo focused();

    public abstract boolean perform(AccessibilityNodeInfo node, int action, Bundle arguments);

    /** Whether the event was delivered. Returns after an app has handled it. */
    public abstract boolean inject(InputEvent event);

    /** Lets time pass between two events. */
    public abstract void pause(long milliseconds);

    /** The screen; null if Android does not let it be seen. */
    public abstract Bitmap picture();

    /** How the screen is turned: the number of quarter turns. */
    public abstract int rotation();

    /** The area of the screen as it is turned. */
    public abstract Rect screen();
}
