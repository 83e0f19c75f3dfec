/** Resets close to a hand-over, more often than in reset.test.ts. */
import "./reset.test.ts";
