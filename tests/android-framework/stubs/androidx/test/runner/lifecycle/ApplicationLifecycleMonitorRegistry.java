package androidx.test.runner.lifecycle;

/** Stands in for a class that Robolectric wants and that is not on Maven Central. */
public final class ApplicationLifecycleMonitorRegistry {
    public static void registerInstance(ApplicationLifecycleMonitor monitor) {}
}
