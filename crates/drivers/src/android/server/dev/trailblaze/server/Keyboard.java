package dev.trailblaze.server;

import android.os.Build;
import android.os.Bundle;
import android.os.SystemClock;
import android.view.InputDevice;
import android.view.KeyCharacterMap;
import android.view.KeyEvent;
import android.view.accessibility.AccessibilityNodeInfo;

/** Keys, and text. What a keyboard has is typed; everything else is put into the field that has the focus. */
public final class Keyboard {
    private final Device device;

    public Keyboard(Device device) {
        this.device = device;
    }

    /** Presses keys by their names, such as KEYCODE_BACK. */
    void press(String[] names) {
        int[] codes = new int[names.length];
        for (int at = 0; at < names.length; at++) {
            codes[at] = KeyEvent.keyCodeFromString(names[at]);
            if (codes[at] == KeyEvent.KEYCODE_UNKNOWN) {
                throw new Requests.Refusal("there is no key " + names[at]);
            }
        }
        for (int code : codes) {
            long now = SystemClock.uptimeMillis();
            send(new KeyEvent(now, now, KeyEvent.ACTION_DOWN, code, 0, 0, KeyCharacterMap.VIRTUAL_KEYBOARD, 0, 0,
                    InputDevice.SOURCE_KEYBOARD));
            send(new KeyEvent(now, SystemClock.uptimeMillis(), KeyEvent.ACTION_UP, code, 0, 0, KeyCharacterMap.VIRTUAL_KEYBOARD, 0, 0,
                    InputDevice.SOURCE_KEYBOARD));
        }
    }

    /** Types at the cursor of the field that has the focus. */
    void type(String text) {
        KeyEvent[] events = eventsFor(text);
        if (events == null) {
            insert(field(), text);
        } else {
            send(events);
        }
    }

    /** Puts a text in the place of that of the field that has the focus. */
    void replace(String text) {
        KeyEvent[] events = eventsFor(text);
        AccessibilityNodeInfo field = field();
        if (events == null) {
            set(field, text);
        } else {
            set(field, "");
            send(events);
        }
    }

    /** The presses that type a text; null if the virtual keyboard has not all of its characters. */
    private static KeyEvent[] eventsFor(String text) {
        for (int at = 0; at < text.length(); at++) {
            char sign = text.charAt(at);
            boolean isOnKeyboard = sign >= ' ' && sign <= '~' || sign == '\n' || sign == '\t';
            if (!isOnKeyboard) {
                return null;
            }
        }
        return text.isEmpty() ? new KeyEvent[0] : KeyCharacterMap.load(KeyCharacterMap.VIRTUAL_KEYBOARD).getEvents(text.toCharArray());
    }

    private void send(KeyEvent[] events) {
        for (KeyEvent event : events) {
            // Android refuses events that are too old.
            send(KeyEvent.changeTimeRepeat(event, SystemClock.uptimeMillis(), 0));
        }
    }

    private void send(KeyEvent event) {
        if (!device.inject(event)) {
            throw new Requests.Refusal("Android did not deliver the key; no window may have the focus");
        }
    }

    private AccessibilityNodeInfo field() {
        AccessibilityNodeInfo field = device.focused();
        if (field == null || !field.isEditable()) {
            throw new Requests.Refusal("no field has the focus; tap a field first");
        }
        return field;
    }

    /** Only whole texts can be set, so that it is set with what is around the cursor. */
    private void insert(AccessibilityNodeInfo field, String text) {
        String present = present(field);
        if (field.isPassword() && !present.isEmpty()) {
            throw new Requests.Refusal("this password field has a text, which nobody may read; set its whole text instead");
        }
        int start = field.getTextSelectionStart();
        int end = field.getTextSelectionEnd();
        boolean hasCursor = start >= 0 && end >= start && end <= present.length();
        String before = hasCursor ? present.substring(0, start) : present;
        String after = hasCursor ? present.substring(end) : "";
        set(field, before + text + after);
        if (!after.isEmpty()) {
            moveCursor(field, before.length() + text.length());
        }
    }

    private static String present(AccessibilityNodeInfo field) {
        boolean isHint = Build.VERSION.SDK_INT >= 26 && field.isShowingHintText();
        return isHint || field.getText() == null ? "" : field.getText().toString();
    }

    private void set(AccessibilityNodeInfo field, String text) {
        Bundle arguments = new Bundle();
        arguments.putCharSequence(AccessibilityNodeInfo.ACTION_ARGUMENT_SET_TEXT_CHARSEQUENCE, text);
        if (!device.perform(field, AccessibilityNodeInfo.ACTION_SET_TEXT, arguments)) {
            throw new Requests.Refusal("the field that has the focus does not let its text be set");
        }
    }

    private void moveCursor(AccessibilityNodeInfo field, int to) {
        Bundle arguments = new Bundle();
        arguments.putInt(AccessibilityNodeInfo.ACTION_ARGUMENT_SELECTION_START_INT, to);
        arguments.putInt(AccessibilityNodeInfo.ACTION_ARGUMENT_SELECTION_END_INT, to);
        device.perform(field, AccessibilityNodeInfo.ACTION_SET_SELECTION, arguments);
    }
}
