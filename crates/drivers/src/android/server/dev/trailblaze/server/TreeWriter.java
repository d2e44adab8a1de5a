package dev.trailblaze.server;

import android.graphics.Rect;
import android.os.Build;
import android.view.accessibility.AccessibilityNodeInfo;
import java.util.List;

/** The tree of elements as `uiautomator dump` prints it, with the hints of fields besides. */
public final class TreeWriter {
    /** The most elements, and the deepest nesting. */
    private static final int MOST = 20000;
    private static final int DEEPEST = 400;

    private final Device device;
    private final Rect screen;
    private final StringBuilder out = new StringBuilder(64 * 1024);
    private int count;

    public TreeWriter(Device device) {
        this.device = device;
        this.screen = device.screen();
    }

    public String write() {
        List<AccessibilityNodeInfo> roots = device.roots();
        if (roots.isEmpty()) {
            throw new Requests.Refusal("null root node");
        }
        out.append("<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>");
        out.append("<hierarchy rotation=\"").append(device.rotation()).append("\">");
        for (int index = 0; index < roots.size(); index++) {
            element(roots.get(index), index, 1);
        }
        return out.append("</hierarchy>").toString();
    }

    private void element(AccessibilityNodeInfo node, int index, int depth) {
        count++;
        if (count > MOST || depth > DEEPEST) {
            throw new Requests.Refusal("the screen has more than " + MOST + " elements, or they are nested more than " + DEEPEST + " deep");
        }
        out.append("<node");
        attribute("index", Integer.toString(index));
        attribute("text", node.getText());
        attribute("resource-id", node.getViewIdResourceName());
        attribute("class", node.getClassName());
        attribute("package", node.getPackageName());
        attribute("content-desc", node.getContentDescription());
        attribute("checkable", node.isCheckable());
        attribute("checked", node.isChecked());
        attribute("clickable", node.isClickable());
        attribute("enabled", node.isEnabled());
        attribute("focusable", node.isFocusable());
        attribute("focused", node.isFocused());
        attribute("scrollable", node.isScrollable());
        attribute("long-clickable", node.isLongClickable());
        attribute("password", node.isPassword());
        attribute("selected", node.isSelected());
        attribute("bounds", bounds(node));
        if (Build.VERSION.SDK_INT >= 26 && node.getHintText() != null) {
            attribute("hint", node.getHintText());
        }
        out.append('>');
        int children = node.getChildCount();
        for (int child = 0; child < children; child++) {
            AccessibilityNodeInfo found = device.child(node, child);
            if (found != null && found.isVisibleToUser()) {
                element(found, child, depth + 1);
            }
        }
        out.append("</node>");
    }

    /** The part of it that is on the screen. */
    private String bounds(AccessibilityNodeInfo node) {
        Rect bounds = new Rect();
        node.getBoundsInScreen(bounds);
        bounds.intersect(screen);
        return bounds.toShortString();
    }

    private void attribute(String name, boolean value) {
        attribute(name, value ? "true" : "false");
    }

    private void attribute(String name, CharSequence value) {
        out.append(' ').append(name).append("=\"");
        int length = value == null ? 0 : value.length();
        for (int at = 0; at < length; at++) {
            char sign = value.charAt(at);
            boolean isPair = Character.isHighSurrogate(sign) && at + 1 < length && Character.isLowSurrogate(value.charAt(at + 1));
            if (isPair) {
                out.append(sign).append(value.charAt(++at));
            } else {
                escaped(sign);
            }
        }
        out.append('"');
    }

    /** What cannot be in a document is a dot, as the command has it. */
    private void escaped(char sign) {
        switch (sign) {
            case '&':
                out.append("&amp;");
                return;
            case '<':
                out.append("&lt;");
                return;
            case '>':
                out.append("&gt;");
                return;
            case '"':
                out.append("&quot;");
                return;
            case '\t':
            case '\n':
            case '\r':
                out.append("&#").append((int) sign).append(';');
                return;
            default:
                boolean isAllowed = sign >= ' ' && !Character.isSurrogate(sign) && sign < '\ufffe';
                out.append(isAllowed ? sign : '.');
        }
    }
}
