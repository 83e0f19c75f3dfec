/** More kills than in death.test.ts. */
import "./death.test.ts";
