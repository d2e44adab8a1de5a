package androidx.test.internal.platform.content;

/** Stands in for a class that Robolectric wants and that is not on Maven Central. */
public interface PermissionGranter {
    void addPermissions(String... permissions);

    void requestPermissions();
}
