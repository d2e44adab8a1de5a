package dev.trailblaze

/** The direction that the finger moves in. */
public typealias SwipeDirection = Direction

/** The direction that the view moves in. */
public typealias ScrollDirection = Direction
