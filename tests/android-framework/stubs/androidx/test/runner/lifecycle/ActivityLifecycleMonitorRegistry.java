package androidx.test.runner.lifecycle;

/** Stands in for a class that Robolectric wants and that is not on Maven Central. */
public final class ActivityLifecycleMonitorRegistry {
    private static ActivityLifecycleMonitor instance;

    public static ActivityLifecycleMonitor getInstance() {
        return instance;
    }

    public static void registerInstance(ActivityLifecycleMonitor monitor) {
        instance = monitor;
    }
}
