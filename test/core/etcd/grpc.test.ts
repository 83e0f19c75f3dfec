import { storeContract } from "./contract/index.ts";
import { createServedSubject } from "./served.ts";

storeContract("the grpc transport", () => createServedSubject("grpc"));
