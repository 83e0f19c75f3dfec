/** More runs than in races.test.ts. */
import "./races.test.ts";
