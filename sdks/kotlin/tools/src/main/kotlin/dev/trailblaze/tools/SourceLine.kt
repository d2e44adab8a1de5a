package dev.trailblaze.tools

import java.io.DataInputStream
import java.lang.reflect.Executable
import java.lang.reflect.Method

/** Where the author's code is, for messages. */
internal object SourceLine {
    private val foreign = listOf(
        "dev.trailblaze.", "_COROUTINE.", "kotlin.", "kotlinx.", "java.", "javax.", "jdk.", "sun.", "com.sun.", "io.modelcontextprotocol.",
        "io.ktor.",
    )

    /** The file and line of the author's code that threw, such as `AcmeTools.kt:42`. */
    fun of(thrown: Throwable): String? = of(thrown.stackTrace)

    /** The innermost line of the author's code in a stack. */
    fun of(stack: Array<StackTraceElement>): String? = stack
        .firstOrNull { frame -> frame.lineNumber > 0 && frame.fileName != null && foreign.none { frame.className.startsWith(it) } }
        ?.let { "${it.fileName}:${inAuthorsFile(it)}" }

    /** The line of a frame. Code of an inline function has numbers beyond the end of the file; then it is the line of the call. */
    private fun inAuthorsFile(frame: StackTraceElement): Int = runCatching {
        val path = "/" + frame.className.replace('.', '/') + ".class"
        val bytes = SourceLine::class.java.getResourceAsStream(path) ?: return frame.lineNumber
        bytes.use { ClassFile(DataInputStream(it.buffered())).lineOfCall(frame.lineNumber) }
    }.getOrNull() ?: frame.lineNumber

    /** The file and first line of the body of a method or constructor. Null if the class was compiled without them. */
    fun of(method: Executable): String? = runCatching {
        val owner = method.declaringClass
        val file = owner.name.substringAfterLast('.') + ".class"
        val bytes = owner.getResourceAsStream(file) ?: return null
        bytes.use { ClassFile(DataInputStream(it.buffered())).lineOf(method) }
    }.getOrNull()
}

/** As much of the format of class files as line numbers need (JVM specification, chapter 4). */
private class ClassFile(private val input: DataInputStream) {
    private val texts = HashMap<Int, String>()

    fun lineOf(method: Executable): String? {
        skipToFields()
        repeat(input.readUnsignedShort()) { readMember { _, _, _ -> skipAttribute() } }
        val descriptor = descriptorOf(method)
        val wanted = if (method is Method) method.name else "<init>"
        var line: Int? = null
        repeat(input.readUnsignedShort()) {
            readMember { name, type, attribute ->
                if (name == wanted && type == descriptor && attribute == "Code") line = readFirstLine() else skipAttribute()
            }
        }
        var file: String? = null
        repeat(input.readUnsignedShort()) {
            if (texts[input.readUnsignedShort()] == "SourceFile") {
                input.skipNBytes(4)
                file = texts[input.readUnsignedShort()]
            } else {
                skipAttribute()
            }
        }
        return line?.let { "$file:$it" }
    }

    /** Where an inline function is called whose code has this line. Null if it is no such line. */
    fun lineOfCall(line: Int): Int? {
        skipToFields()
        repeat(2) { repeat(input.readUnsignedShort()) { readMember { _, _, _ -> skipAttribute() } } }
        repeat(input.readUnsignedShort()) {
            if (texts[input.readUnsignedShort()] == "SourceDebugExtension") {
                val lines = String(input.readNBytes(input.readInt())).lineSequence()
                return lines.dropWhile { it != "*S KotlinDebug" }.firstNotNullOfOrNull { callOf(line, it) }
            }
            skipAttribute()
        }
        return null
    }

    /** Reads `27#1,2:84,3`: what is called from line 27 has the lines 84 to 86, and what is called from line 28 those after (JSR-45). */
    private fun callOf(line: Int, mapping: String): Int? {
        val found = MAPPING.matchEntire(mapping) ?: return null
        val (first, repeated, start, step) = found.destructured
        val (size, count) = (step.toIntOrNull() ?: 1) to (repeated.toIntOrNull() ?: 1)
        val offset = line - start.toInt()
        return if (offset in 0 until size * count) first.toInt() + offset / size else null
    }

    private fun skipToFields() {
        input.skipNBytes(8)
        readConstants()
        input.skipNBytes(6)
        input.skipNBytes(2L * input.readUnsignedShort())
    }

    private fun readConstants() {
        val count = input.readUnsignedShort()
        var index = 1
        while (index < count) {
            when (val tag = input.readUnsignedByte()) {
                1 -> texts[index] = input.readUTF()
                3, 4, 9, 10, 11, 12, 17, 18 -> input.skipNBytes(4)
                5, 6 -> {
                    input.skipNBytes(8)
                    // Long and double take two places.
                    index++
                }
                7, 8, 16, 19, 20 -> input.skipNBytes(2)
                15 -> input.skipNBytes(3)
                else -> error("unknown constant $tag")
            }
            index++
        }
    }

    /** Calls `onAttribute` with the input behind the name of each attribute. */
    private fun readMember(onAttribute: ClassFile.(name: String?, type: String?, attribute: String?) -> Unit) {
        input.skipNBytes(2)
        val name = texts[input.readUnsignedShort()]
        val type = texts[input.readUnsignedShort()]
        repeat(input.readUnsignedShort()) { onAttribute(name, type, texts[input.readUnsignedShort()]) }
    }

    private fun skipAttribute() = input.skipNBytes(Integer.toUnsignedLong(input.readInt()))

    /** The smallest line number of a Code attribute. */
    private fun readFirstLine(): Int? {
        input.skipNBytes(8)
        input.skipNBytes(Integer.toUnsignedLong(input.readInt()))
        input.skipNBytes(8L * input.readUnsignedShort())
        var line: Int? = null
        repeat(input.readUnsignedShort()) {
            if (texts[input.readUnsignedShort()] == "LineNumberTable") {
                input.skipNBytes(4)
                repeat(input.readUnsignedShort()) {
                    input.skipNBytes(2)
                    val number = input.readUnsignedShort()
                    line = minOf(line ?: number, number)
                }
            } else {
                skipAttribute()
            }
        }
        return line
    }

    private fun descriptorOf(method: Executable): String {
        val returned = if (method is Method) method.returnType.descriptorString() else "V"
        return method.parameterTypes.joinToString("", "(", ")") { it.descriptorString() } + returned
    }

    private companion object {
        val MAPPING = Regex("""(\d+)#\d+(?:,(\d+))?:(\d+)(?:,(\d+))?""")
    }
}
