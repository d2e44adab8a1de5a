package androidx.test.platform.ui;

/** Stands in for a class that Robolectric wants and that is not on Maven Central. */
public class InjectEventSecurityException extends Exception {}
