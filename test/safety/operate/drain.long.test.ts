/** Operators that act at once, more often than in drain.test.ts. */
import "./drain.test.ts";
