/**
 * The reason with which code ends its own timers and listeners when their work is done. `abort()` without a reason creates
 * a DOMException with a stack each time, which costs a busy worker more than the timer itself.
 */
export const OVER = new Error("it is over");
