import { testStoreContract } from "./contract/index.ts";
import { createServedSubject } from "./served.ts";

testStoreContract("the http transport", () => createServedSubject("http"));
