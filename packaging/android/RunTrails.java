package dev.trailblaze.phone;

import android.app.Activity;
import android.app.Instrumentation;
import android.content.res.AssetManager;
import android.os.Bundle;
import android.os.ParcelFileDescriptor;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;

/** Starts the program as the shell: an app may neither touch the screen nor look at it. */
public final class RunTrails extends Instrumentation {
    /** {@code UiAutomation.FLAG_DONT_USE_ACCESSIBILITY}: otherwise, {@code uiautomator} does not work while this runs. */
    private static final int DONT_USE_ACCESSIBILITY = 2;

    @Override
    public void onCreate(Bundle arguments) {
        super.onCreate(arguments);
        start();
    }

    @Override
    public void onStart() {
        Bundle result = new Bundle();
        int code = Activity.RESULT_CANCELED;
        try {
            String last = runTrails();
            result.putString(REPORT_KEY_STREAMRESULT, last + "\n");
            if (last.equals("exit code 0")) {
                code = Activity.RESULT_OK;
            }
        } catch (IOException error) {
            result.putString(REPORT_KEY_STREAMRESULT, error + "\n");
        }
        finish(code, result);
    }

    /** Returns the last line that is printed; the others are told as they come. */
    private String runTrails() throws IOException {
        // The shell can read this folder, and no folder inside of the app.
        File folder = getContext().getExternalFilesDir(null);
        copy(getContext().getAssets(), "project", folder);
        copy(getContext().getAssets(), "run.sh", folder);
        String program = getContext().getApplicationInfo().nativeLibraryDir + "/libtrailblaze.so";
        // It is split at spaces, and no shell reads it.
        ParcelFileDescriptor output = getUiAutomation(DONT_USE_ACCESSIBILITY)
                .executeShellCommand("sh " + folder + "/run.sh " + program + " " + folder);
        String last = "";
        try (BufferedReader lines = new BufferedReader(
                new InputStreamReader(new ParcelFileDescriptor.AutoCloseInputStream(output), "UTF-8"))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                Bundle status = new Bundle();
                status.putString(REPORT_KEY_STREAMRESULT, line + "\n");
                sendStatus(0, status);
                last = line;
            }
        }
        return last;
    }

    /** Copies a file of the assets, or a folder of them. */
    private static void copy(AssetManager assets, String path, File to) throws IOException {
        String[] names = assets.list(path);
        File target = new File(to, path);
        if (names != null && names.length > 0) {
            target.mkdirs();
            for (String name : names) {
                copy(assets, path + "/" + name, to);
            }
            return;
        }
        try (InputStream in = assets.open(path); OutputStream out = new FileOutputStream(target)) {
            byte[] bytes = new byte[65536];
            for (int count = in.read(bytes); count >= 0; count = in.read(bytes)) {
                out.write(bytes, 0, count);
            }
        }
    }
}
