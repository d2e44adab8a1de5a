package dev.trailblaze

/** The commands that only desktops have. There are none yet. */
public interface DesktopCommands

/** The direction that the finger moves in. */
public typealias SwipeDirection = Direction

/** The direction that the view moves in. */
public typealias ScrollDirection = Direction
