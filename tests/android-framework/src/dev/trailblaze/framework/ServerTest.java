package dev.trailblaze.framework;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import android.app.Activity;
import android.content.Intent;
import android.util.Xml;
import android.view.View;
import android.view.WindowManagerGlobal;
import android.view.accessibility.AccessibilityManager;
import android.widget.CheckBox;
import android.widget.EditText;
import dev.trailblaze.server.Requests;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.nio.charset.StandardCharsets;
import org.junit.After;
import org.junit.Before;
import org.junit.Test;
import org.junit.runner.JUnitCore;
import org.junit.runner.Result;
import org.junit.runner.RunWith;
import org.junit.runner.notification.Failure;
import org.robolectric.Robolectric;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.Shadows;
import org.robolectric.android.controller.ActivityController;
import org.robolectric.annotation.Config;
import org.robolectric.annotation.GraphicsMode;
import org.robolectric.annotation.LooperMode;
import org.robolectric.shadows.ShadowChoreographer;
import org.robolectric.shadows.ShadowView;

/**
 * The server for phones, as it is in the committed dex, in the real Android 14 framework under Robolectric, on screens of Appium's ApiDemos.
 * No phone, no Android system and no ART took part.
 */
@RunWith(RobolectricTestRunner.class)
@Config(sdk = 34, qualifiers = "w411dp-h731dp-port-420dpi")
@GraphicsMode(GraphicsMode.Mode.NATIVE)
@LooperMode(LooperMode.Mode.PAUSED)
public class ServerTest {
    private static final String APP = "io.appium.android.apis.";
    private static final String[] SCREENS = {
        "ApiDemos", "app.AlertDialogSamples", "app.DialogActivity", "view.AutoComplete1", "view.Buttons1", "view.Controls1",
        "view.DateWidgets1", "view.Grid1", "view.LinearLayout1", "view.List1", "view.List14", "view.ProgressBar1", "view.RadioGroup1",
        "view.RatingBar1", "view.ScrollBar1", "view.SeekBar1", "view.Spinner1", "view.Switches", "view.Tabs1", "view.TextSwitcher1",
        "view.Visibility1", "content.ReadAsset", "content.StyledText", "text.Link", "animation.AnimationLoading",
        "app.ActionBarMechanics", "app.ActionBarDisplayOptions", "app.CustomTitle", "app.FinishAffinity", "app.Forwarding",
        "app.HelloWorld", "app.ReceiveResult", "app.ReorderOnLaunch", "app.ScreenOrientation", "app.FragmentContextMenu",
        "app.FragmentHideShow", "app.FragmentMenu", "app.FragmentStack", "app.MenuInflateFromXml", "text.LogTextBox1",
        "os.MorseCode", "view.Animation2", "view.DateWidgets2", "view.ExpandableList1", "view.ExpandableList3", "view.Focus2",
        "view.Grid2", "view.ImageView1", "view.LinearLayout5", "view.ChronometerDemo",
    };

    private ActivityController<? extends Activity> controller;
    private FrameworkDevice device;

    public static void main(String[] arguments) {
        Result result = JUnitCore.runClasses(ServerTest.class);
        for (Failure failure : result.getFailures()) {
            System.err.println(failure.getTestHeader() + ": " + failure.getTrace());
        }
        System.out.println(result.getRunCount() + " tests, " + result.getFailureCount() + " failed");
        System.exit(result.wasSuccessful() ? 0 : 1);
    }

    @Before
    public void setUp() {
        ShadowView.setUseRealViewAnimations(true);
        ShadowChoreographer.setPaused(true);
        ShadowChoreographer.setFrameDelay(java.time.Duration.ofMillis(16));
        AccessibilityManager manager = RuntimeEnvironment.getApplication().getSystemService(AccessibilityManager.class);
        Shadows.shadowOf(manager).setEnabled(true);
    }

    @After
    public void close() {
        if (controller != null) {
            android.os.IBinder token = controller.get().getActivityToken();
            String name = controller.get().getClass().getName();
            controller.close();
            // Otherwise dialogs that are left take the touches of later screens.
            WindowManagerGlobal.getInstance().closeAll(token, name, "Activity");
            controller = null;
        }
    }

    private Activity open(String name) throws Exception {
        close();
        Class<? extends Activity> type = Class.forName(APP + name).asSubclass(Activity.class);
        controller = Robolectric.buildActivity(type, new Intent(Intent.ACTION_MAIN));
        controller.create().start().postCreate(null).resume().visible();
        FrameworkDevice.pass(100);
        controller.topActivityResumed(true);
        controller.windowFocusChanged(true);
        FrameworkDevice.pass(300);
        device = new FrameworkDevice(controller.get());
        return controller.get();
    }

    /** Sends a request as a client does; returns the content of the answer. */
    private byte[] ask(int kind, byte[] content) throws Exception {
        ByteArrayOutputStream request = new ByteArrayOutputStream();
        DataOutputStream writer = new DataOutputStream(request);
        writer.writeInt(content.length + 1);
        writer.writeByte(kind);
        writer.write(content);
        ByteArrayOutputStream answer = new ByteArrayOutputStream();
        new Requests(device).answer(new ByteArrayInputStream(request.toByteArray()), answer);
        FrameworkDevice.pass(400);
        DataInputStream reader = new DataInputStream(new ByteArrayInputStream(answer.toByteArray()));
        byte[] bytes = new byte[reader.readInt() - 1];
        int status = reader.readByte();
        reader.readFully(bytes);
        assertEquals(new String(bytes, StandardCharsets.UTF_8), 0, status);
        return bytes;
    }

    private String tree() throws Exception {
        return new String(ask('T', new byte[8]), StandardCharsets.UTF_8);
    }

    private void tap(View view) throws Exception {
        int[] corner = new int[2];
        view.getLocationOnScreen(corner);
        int x = corner[0] + view.getWidth() / 2;
        int y = corner[1] + view.getHeight() / 2;
        ByteArrayOutputStream gesture = new ByteArrayOutputStream();
        DataOutputStream writer = new DataOutputStream(gesture);
        writer.writeByte(1);
        writer.writeInt(50);
        writer.writeInt(0);
        writer.writeByte(1);
        for (int place : new int[] {x, y, x, y}) {
            writer.writeInt(place);
        }
        ask('G', gesture.toByteArray());
    }

    private static <V extends View> V find(View view, Class<V> type) {
        if (type.isInstance(view)) {
            return type.cast(view);
        }
        if (view instanceof android.view.ViewGroup) {
            android.view.ViewGroup group = (android.view.ViewGroup) view;
            for (int index = 0; index < group.getChildCount(); index++) {
                V found = find(group.getChildAt(index), type);
                if (found != null) {
                    return found;
                }
            }
        }
        return null;
    }

    /** A document as its elements, however it is written. */
    private static String read(String document) throws Exception {
        org.xmlpull.v1.XmlPullParser parser = Xml.newPullParser();
        parser.setInput(new java.io.StringReader(document));
        StringBuilder read = new StringBuilder();
        for (int event = parser.next(); event != org.xmlpull.v1.XmlPullParser.END_DOCUMENT; event = parser.next()) {
            if (event == org.xmlpull.v1.XmlPullParser.START_TAG) {
                read.append(parser.getDepth()).append(' ').append(parser.getName());
                for (int at = 0; at < parser.getAttributeCount(); at++) {
                    // The command has no hints.
                    if (!parser.getAttributeName(at).equals("hint")) {
                        read.append(' ').append(parser.getAttributeName(at)).append('=').append(parser.getAttributeValue(at));
                    }
                }
                read.append('\n');
            }
        }
        return read.toString();
    }

    @Test
    public void theTreeIsThatOfTheDumpOnEveryScreen() throws Exception {
        int compared = 0;
        for (String screen : SCREENS) {
            try {
                open(screen);
            } catch (ClassNotFoundException error) {
                throw new AssertionError("ApiDemos has no screen " + screen);
            }
            String tree = read(tree());
            assertEquals(screen, read(new Dump(device).print()), tree);
            assertTrue(screen, tree.split("\n").length > 3);
            compared++;
        }
        System.out.println(compared + " screens have the same tree");
    }

    @Test
    public void aTapReachesTheApp() throws Exception {
        CheckBox box = find(open("view.Controls1").getWindow().getDecorView(), CheckBox.class);
        tap(box);
        assertTrue(box.isChecked());
        assertTrue(tree().contains("checked=\"true\""));
    }

    @Test
    public void textOfEveryScriptArrives() throws Exception {
        EditText field = find(open("view.Controls1").getWindow().getDecorView(), EditText.class);
        tap(field);
        String[] texts = {"it's $HOME %s", "Gr\u00fc\u00dfe", "\ud83d\ude00 \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627"};
        for (String text : texts) {
            ask('R', text.getBytes(StandardCharsets.UTF_8));
            assertEquals(text, field.getText().toString());
            assertTrue(read(tree()).contains("text=" + text));
        }
        ask('R', "ab".getBytes(StandardCharsets.UTF_8));
        field.setSelection(1);
        ask('I', "\u00fc".getBytes(StandardCharsets.UTF_8));
        assertEquals("a\u00fcb", field.getText().toString());
        ask('K', "KEYCODE_MOVE_END KEYCODE_DEL".getBytes(StandardCharsets.UTF_8));
        assertEquals("a\u00fc", field.getText().toString());
    }

    @Test
    public void aPictureIsAPng() throws Exception {
        open("view.Controls1");
        byte[] picture = ask('P', new byte[0]);
        assertEquals("PNG", new String(picture, 1, 3, StandardCharsets.US_ASCII));
        assertTrue(picture.length > 1000);
    }
}
