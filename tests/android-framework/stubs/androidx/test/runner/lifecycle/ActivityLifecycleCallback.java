package androidx.test.runner.lifecycle;

/** Stands in for a class that Robolectric wants and that is not on Maven Central. */
public interface ActivityLifecycleCallback {
    void onActivityLifecycleChanged(android.app.Activity activity, Stage stage);
}
