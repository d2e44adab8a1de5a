package androidx.test.runner.intent;

/** Stands in for a class that Robolectric wants and that is not on Maven Central. */
public final class IntentMonitorRegistry {
    public static void registerInstance(IntentMonitor monitor) {}
}
