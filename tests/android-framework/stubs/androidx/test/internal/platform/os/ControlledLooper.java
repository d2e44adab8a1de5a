package androidx.test.internal.platform.os;

/** Stands in for a class that Robolectric wants and that is not on Maven Central. */
public interface ControlledLooper {
    void drainMainThreadUntilIdle();

    void simulateWindowFocus(android.view.View view);
}
