package dev.trailblaze.server;

import android.app.UiAutomation;
import android.os.Looper;
import android.view.Display;
import java.lang.reflect.Constructor;

/** The calls that are not in Android's SDK. README.md lists them with the versions that have them. */
final class HiddenApi {
    private HiddenApi() {}

    static UiAutomation connect(Looper looper) throws Exception {
        Class<?> connectionClass = Class.forName("android.app.UiAutomationConnection");
        Class<?> connectionInterface = Class.forName("android.app.IUiAutomationConnection");
        Constructor<?> ofConnection = connectionClass.getDeclaredConstructor();
        ofConnection.setAccessible(true);
        Constructor<UiAutomation> ofAutomation = UiAutomation.class.getDeclaredConstructor(Looper.class, connectionInterface);
        ofAutomation.setAccessible(true);
        UiAutomation automation = ofAutomation.newInstance(looper, ofConnection.newInstance());
        // Services such as a screen reader go on.
        UiAutomation.class
                .getMethod("connect", int.class)
                .invoke(automation, UiAutomation.FLAG_DONT_SUPPRESS_ACCESSIBILITY_SERVICES);
        return automation;
    }

    static void disconnect(UiAutomation automation) throws Exception {
        UiAutomation.class.getMethod("disconnect").invoke(automation);
    }

    /** An app would ask its context, which this program does not have. */
    static Display defaultDisplay() throws Exception {
        Class<?> manager = Class.forName("android.hardware.display.DisplayManagerGlobal");
        Object instance = manager.getMethod("getInstance").invoke(null);
        return (Display) manager.getMethod("getRealDisplay", int.class).invoke(instance, Display.DEFAULT_DISPLAY);
    }
}
