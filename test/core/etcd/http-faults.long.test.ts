import { testClusterFaults } from "./cluster-faults.ts";
import { testNetworkFaults } from "./network-faults.ts";

testNetworkFaults("http");
testClusterFaults("http");
