package androidx.test.runner.lifecycle;

/** Stands in for a class that Robolectric wants and that is not on Maven Central. */
public interface ActivityLifecycleMonitor {
    void addLifecycleCallback(ActivityLifecycleCallback callback);

    void removeLifecycleCallback(ActivityLifecycleCallback callback);

    Stage getLifecycleStageOf(android.app.Activity activity);

    java.util.Collection<android.app.Activity> getActivitiesInStage(Stage stage);
}
