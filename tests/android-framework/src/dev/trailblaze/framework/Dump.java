package dev.trailblaze.framework;

import android.graphics.Rect;
import android.util.Xml;
import android.view.accessibility.AccessibilityNodeInfo;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.xmlpull.v1.XmlSerializer;

/** What `uiautomator dump` prints, written with Android's own serializer. */
final class Dump {
    private final FrameworkDevice device;
    private final XmlSerializer xml = Xml.newSerializer();

    Dump(FrameworkDevice device) {
        this.device = device;
    }

    String print() throws Exception {
        List<AccessibilityNodeInfo> roots = device.roots();
        if (roots.isEmpty()) {
            return "ERROR: null root node returned by UiTestAutomationBridge.";
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        xml.setOutput(bytes, "UTF-8");
        xml.startDocument("UTF-8", true);
        xml.startTag("", "hierarchy");
        xml.attribute("", "rotation", "0");
        print(roots.get(0), 0);
        xml.endTag("", "hierarchy");
        xml.endDocument();
        return new String(bytes.toByteArray(), StandardCharsets.UTF_8);
    }

    private void print(AccessibilityNodeInfo node, int index) throws Exception {
        Rect bounds = new Rect();
        node.getBoundsInScreen(bounds);
        bounds.intersect(device.screen());
        Object[] attributes = {
            "index", index, "text", node.getText(), "resource-id", node.getViewIdResourceName(), "class", node.getClassName(),
            "package", node.getPackageName(), "content-desc", node.getContentDescription(), "checkable", node.isCheckable(),
            "checked", node.isChecked(), "clickable", node.isClickable(), "enabled", node.isEnabled(), "focusable", node.isFocusable(),
            "focused", node.isFocused(), "scrollable", node.isScrollable(), "long-clickable", node.isLongClickable(),
            "password", node.isPassword(), "selected", node.isSelected(), "bounds", bounds.toShortString(),
        };
        xml.startTag("", "node");
        for (int at = 0; at < attributes.length; at += 2) {
            xml.attribute("", (String) attributes[at], attributes[at + 1] == null ? "" : attributes[at + 1].toString());
        }
        for (int at = 0; at < node.getChildCount(); at++) {
            AccessibilityNodeInfo child = device.child(node, at);
            if (child != null && child.isVisibleToUser()) {
                print(child, at);
            }
        }
        xml.endTag("", "node");
    }
}
