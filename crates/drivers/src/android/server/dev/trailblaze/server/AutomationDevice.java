package dev.trailblaze.server;

import android.accessibilityservice.AccessibilityServiceInfo;
import android.app.UiAutomation;
import android.graphics.Bitmap;
import android.graphics.Point;
import android.graphics.Rect;
import android.os.Bundle;
import android.os.HandlerThread;
import android.os.SystemClock;
import android.view.Display;
import android.view.InputEvent;
import android.view.accessibility.AccessibilityNodeInfo;
import android.view.accessibility.AccessibilityWindowInfo;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeoutException;

/** A device as `UiAutomation` sees it, which is what the command `uiautomator` uses too. */
final class AutomationDevice extends Device {
    private final UiAutomation automation;
    private final Display display;

    private AutomationDevice(UiAutomation automation, Display display) {
        this.automation = automation;
        this.display = display;
    }

    static AutomationDevice connect() throws Exception {
        HandlerThread thread = new HandlerThread("automation");
        thread.start();
        UiAutomation automation = HiddenApi.connect(thread.getLooper());
        return new AutomationDevice(automation, HiddenApi.defaultDisplay());
    }

    void disconnect() throws Exception {
        HiddenApi.disconnect(automation);
    }

    @Override
    public void waitForIdle(long quiet, long limit) {
        try {
            automation.waitForIdle(quiet, limit);
        } catch (TimeoutException error) {
            // A screen that never rests is shown as it is.
        }
    }

    @Override
    public List<AccessibilityNodeInfo> roots() {
        forgetWhatWasSeen();
        AccessibilityNodeInfo active = automation.getRootInActiveWindow();
        if (active == null) {
            return Collections.emptyList();
        }
        List<AccessibilityNodeInfo> roots = new ArrayList<AccessibilityNodeInfo>();
        roots.add(active);
        for (AccessibilityWindowInfo window : inFrontOf(active.getWindowId())) {
            AccessibilityNodeInfo root = window.getRoot();
            if (root != null) {
                roots.add(root);
            }
        }
        return roots;
    }

    /** Windows of apps only: the bars of the system and the keyboard are always in front. */
    private List<AccessibilityWindowInfo> inFrontOf(int id) {
        List<AccessibilityWindowInfo> all = automation.getWindows();
        int layer = Integer.MAX_VALUE;
        for (AccessibilityWindowInfo window : all) {
            if (window.getId() == id) {
                layer = window.getLayer();
            }
        }
        List<AccessibilityWindowInfo> found = new ArrayList<AccessibilityWindowInfo>();
        for (AccessibilityWindowInfo window : all) {
            if (window.getType() == AccessibilityWindowInfo.TYPE_APPLICATION && window.getLayer() > layer) {
                found.add(window);
            }
        }
        Collections.sort(found, new Comparator<AccessibilityWindowInfo>() {
            @Override
            public int compare(AccessibilityWindowInfo one, AccessibilityWindowInfo other) {
                return Integer.compare(one.getLayer(), other.getLayer());
            }
        });
        return found;
    }

    /** Elements are cached for as long as events say that they are the same, which not all apps send. Setting this clears the cache. */
    private void forgetWhatWasSeen() {
        AccessibilityServiceInfo info = automation.getServiceInfo();
        if (info == null) {
            return;
        }
        info.flags |= AccessibilityServiceInfo.FLAG_INCLUDE_NOT_IMPORTANT_VIEWS
                | AccessibilityServiceInfo.FLAG_REPORT_VIEW_IDS
                | AccessibilityServiceInfo.FLAG_RETRIEVE_INTERACTIVE_WINDOWS;
        automation.setServiceInfo(info);
    }

    @Override
    public AccessibilityNodeInfo child(AccessibilityNodeInfo parent, int index) {
        return parent.getChild(index);
    }

    @Override
    public AccessibilityNodeInfo focused() {
        forgetWhatWasSeen();
        return automation.findFocus(AccessibilityNodeInfo.FOCUS_INPUT);
    }

    @Override
    public boolean perform(AccessibilityNodeInfo node, int action, Bundle arguments) {
        return node.performAction(action, arguments);
    }

    @Override
    public boolean inject(InputEvent event) {
        return automation.injectInputEvent(event, true);
    }

    @Override
    public void pause(long milliseconds) {
        SystemClock.sleep(milliseconds);
    }

    @Override
    public Bitmap picture() {
        return automation.takeScreenshot();
    }

    @Override
    public int rotation() {
        return display.getRotation();
    }

    @Override
    public Rect screen() {
        Point size = new Point();
        display.getRealSize(size);
        return new Rect(0, 0, size.x, size.y);
    }
}
