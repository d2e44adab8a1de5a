package dev.trailblaze.framework;

import android.content.Context;
import android.graphics.Bitmap;
import android.graphics.Rect;
import android.os.Bundle;
import android.util.DisplayMetrics;
import android.view.InputEvent;
import android.view.View;
import android.view.ViewRootImpl;
import android.view.WindowManager;
import android.view.accessibility.AccessibilityNodeInfo;
import android.view.accessibility.IAccessibilityInteractionConnectionCallback;
import android.view.inspector.WindowInspector;
import androidx.test.platform.app.InstrumentationRegistry;
import dev.trailblaze.server.Device;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import org.robolectric.shadows.ShadowLooper;

/**
 * A device on a JVM: the views, the layout, the delivery of input and the accessibility nodes are those of Android 14. There is no system
 * behind them, so that windows are asked directly.
 */
final class FrameworkDevice extends Device {
    private static final int FLAGS = AccessibilityNodeInfo.FLAG_SERVICE_REQUESTS_INCLUDE_NOT_IMPORTANT_VIEWS
            | AccessibilityNodeInfo.FLAG_SERVICE_REQUESTS_REPORT_VIEW_IDS;
    private static final int NO_PROCESS = -1;

    private final Context context;

    FrameworkDevice(Context context) {
        this.context = context;
    }

    /** Lets time pass, in frames, so that windows are attached and drawn. */
    static void pass(long milliseconds) {
        ShadowLooper main = ShadowLooper.shadowMainLooper();
        for (long left = milliseconds; left > 0; left -= 16) {
            main.idleFor(Duration.ofMillis(Math.min(16, left)));
        }
        main.idle();
    }

    @Override
    public void waitForIdle(long quiet, long limit) {
        pass(quiet);
    }

    @Override
    public List<AccessibilityNodeInfo> roots() {
        ViewRootImpl window = window();
        AccessibilityNodeInfo root = window == null ? null : node(window, AccessibilityNodeInfo.ROOT_NODE_ID);
        return root == null ? Collections.<AccessibilityNodeInfo>emptyList() : Collections.singletonList(root);
    }

    @Override
    public AccessibilityNodeInfo child(AccessibilityNodeInfo parent, int index) {
        return node(window(), parent.getChildId(index));
    }

    @Override
    public AccessibilityNodeInfo focused() {
        List<AccessibilityNodeInfo> roots = roots();
        return roots.isEmpty() ? null : focusedBelow(roots.get(0));
    }

    private AccessibilityNodeInfo focusedBelow(AccessibilityNodeInfo node) {
        if (node.isFocused()) {
            return node;
        }
        for (int index = 0; index < node.getChildCount(); index++) {
            AccessibilityNodeInfo child = child(node, index);
            AccessibilityNodeInfo found = child == null ? null : focusedBelow(child);
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    @Override
    public boolean perform(AccessibilityNodeInfo node, int action, Bundle arguments) {
        final boolean[] isDone = new boolean[1];
        window().getAccessibilityInteractionController().performAccessibilityActionClientThread(
                node.getSourceNodeId(), action, arguments, 1, new Callback() {
                    @Override
                    public void setPerformAccessibilityActionResult(boolean done, int interaction) {
                        isDone[0] = done;
                    }
                }, FLAGS, NO_PROCESS, -1L);
        pass(16);
        return isDone[0];
    }

    @Override
    public boolean inject(InputEvent event) {
        return InstrumentationRegistry.getInstrumentation().getUiAutomation().injectInputEvent(event, true);
    }

    @Override
    public void pause(long milliseconds) {
        pass(milliseconds);
    }

    @Override
    public Bitmap picture() {
        return InstrumentationRegistry.getInstrumentation().getUiAutomation().takeScreenshot();
    }

    @Override
    public int rotation() {
        return 0;
    }

    @Override
    public Rect screen() {
        DisplayMetrics metrics = context.getResources().getDisplayMetrics();
        return new Rect(0, 0, metrics.widthPixels, metrics.heightPixels);
    }

    /** The window in front that can have the focus. */
    private ViewRootImpl window() {
        List<View> views = WindowInspector.getGlobalWindowViews();
        for (int index = views.size() - 1; index >= 0; index--) {
            View view = views.get(index);
            WindowManager.LayoutParams layout = (WindowManager.LayoutParams) view.getLayoutParams();
            if ((layout.flags & WindowManager.LayoutParams.FLAG_NOT_FOCUSABLE) == 0 && view.getVisibility() == View.VISIBLE) {
                return view.getViewRootImpl();
            }
        }
        return null;
    }

    private static AccessibilityNodeInfo node(ViewRootImpl window, long id) {
        final AccessibilityNodeInfo[] found = new AccessibilityNodeInfo[1];
        window.getAccessibilityInteractionController().findAccessibilityNodeInfoByAccessibilityIdClientThread(
                id, null, 1, new Callback() {
                    @Override
                    public void setFindAccessibilityNodeInfoResult(AccessibilityNodeInfo info, int interaction) {
                        found[0] = info;
                    }
                }, FLAGS, NO_PROCESS, -1L, null, null, null);
        ShadowLooper.shadowMainLooper().idle();
        return found[0];
    }

    private abstract static class Callback extends IAccessibilityInteractionConnectionCallback.Stub {
        @Override
        public void setFindAccessibilityNodeInfoResult(AccessibilityNodeInfo info, int interaction) {}

        @Override
        public void setFindAccessibilityNodeInfosResult(List<AccessibilityNodeInfo> infos, int interaction) {}

        @Override
        public void setPrefetchAccessibilityNodeInfoResult(List<AccessibilityNodeInfo> infos, int interaction) {}

        @Override
        public void setPerformAccessibilityActionResult(boolean done, int interaction) {}

        @Override
        public void sendTakeScreenshotOfWindowError(int error, int interaction) {}
    }
}
