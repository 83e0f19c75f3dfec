import { storeContract } from "./contract/index.ts";
import { createServedSubject } from "./served.ts";

storeContract("the http transport", () => createServedSubject("http"));
