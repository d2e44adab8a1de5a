package dev.trailblaze.tools

import java.lang.reflect.InvocationTargetException
import java.lang.reflect.Method

/**
 * What a toolset says about its tools: the properties `registry` and `groups` of [HasRegistry], or of an interface of the author's
 * that has the same ones. They are recognized by their values, so that nothing an author wrote has no effect.
 */
internal object Described {
    /** Whether objects of a class may describe their tools. */
    fun isPossible(type: Class<*>): Boolean = getter(type, "registry") != null

    /** A property of a toolset: metadata by name. Empty if the property does not exist, or is about something else. */
    fun <T : Any> map(toolSet: Any, property: String, type: Class<T>): Map<String, T> {
        // `groups` may be anything in a class that does not describe its tools.
        if (!isPossible(toolSet.javaClass)) return emptyMap()
        val found = getter(toolSet.javaClass, property) ?: return emptyMap()
        val map = try {
            found.isAccessible = true
            found.invoke(toolSet) as Map<*, *>
        } catch (thrown: InvocationTargetException) {
            throw thrown.targetException
        }
        val others = map.values.filterNot { type.isInstance(it) }
        val isOurs = others.size < map.size || others.any { it?.javaClass?.simpleName == type.simpleName } || toolSet is HasRegistry
        if (!isOurs) return emptyMap()
        val wrong = others + map.keys.filterNot { it is String }
        if (wrong.isNotEmpty()) {
            val where = "`$property` of the toolset `${toolSet.javaClass.simpleName}`"
            throw DefinitionError("$where must be a Map<String, ${type.name}>, but has a ${wrong.first()?.javaClass?.name}")
        }
        return map.entries.associate { (name, value) -> name as String to type.cast(value) }
    }

    private fun getter(type: Class<*>, property: String): Method? {
        val name = "get${property.replaceFirstChar(Char::uppercase)}"
        return type.methods.find { it.name == name && it.parameterCount == 0 && Map::class.java.isAssignableFrom(it.returnType) }
    }
}
