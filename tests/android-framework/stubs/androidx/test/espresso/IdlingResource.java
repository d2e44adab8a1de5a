package androidx.test.espresso;

/** Stands in for a class that Robolectric wants and that is not on Maven Central. */
public interface IdlingResource {
    String getName();

    boolean isIdleNow();

    void registerIdleTransitionCallback(ResourceCallback callback);

    interface ResourceCallback {
        void onTransitionToIdle();
    }
}
