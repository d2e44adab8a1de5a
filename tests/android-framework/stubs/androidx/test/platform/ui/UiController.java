package androidx.test.platform.ui;

/** Stands in for a class that Robolectric wants and that is not on Maven Central. */
public interface UiController {
    boolean injectMotionEvent(android.view.MotionEvent event) throws InjectEventSecurityException;

    boolean injectKeyEvent(android.view.KeyEvent event) throws InjectEventSecurityException;

    boolean injectString(String text) throws InjectEventSecurityException;

    void loopMainThreadUntilIdle();

    void loopMainThreadForAtLeast(long milliseconds);
}
