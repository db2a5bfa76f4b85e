import { expect, it } from "vitest";

import { bytesOf, cpuOf, printAmountOf, printCpuAndMemory, printSeconds, printWait, requestedOf } from "../../../src/model/text/quantity";

it("waits below a second are printed in milliseconds, longer ones in seconds, minutes and hours", () => {
  expect([0, 0.0014, 0.4, 0.9999, 4.24, 245, 7385].map(printWait)).toEqual(["0 ms", "1 ms", "400 ms", "1.0 s", "4.2 s", "4m 05s", "2h 03m"]);
  expect([7380, 7385.5].map((seconds) => printSeconds(seconds))).toEqual(["2h 03m 00s", "2h 03m 05s"]);
});

it("amounts of CPU side by side have one unit", () => {
  expect([printCpuAndMemory(6500, 5 * 2 ** 30), printCpuAndMemory(6000, 4 * 2 ** 30), printCpuAndMemory(100, 0)]).toEqual(["6.5 CPU, 5Gi", "6 CPU, 4Gi", "0.1 CPU, 0"]);
});

it("requests are printed in the unit of the allocatable amount", () => {
  const GI = 2 ** 30;

  expect([cpuOf(1500, 4000), cpuOf(500, 4000), cpuOf(125, 4000), cpuOf(0, 4000)]).toEqual(["1.5 / 4", "0.5 / 4", "125m / 4", "0 / 4"]);
  expect([bytesOf(1.5 * GI, 8 * GI), bytesOf(0, 8 * GI), bytesOf(256 * 2 ** 20, 16 * GI), bytesOf(GI / 3, 8 * GI)]).toEqual(["1.5Gi / 8Gi", "0 / 8Gi", "0.25Gi / 16Gi", "≈341Mi / 8Gi"]);
  expect([printAmountOf("memory", 5.5 * GI, 8 * GI), printAmountOf("cpu", 2500, 4000), printAmountOf("pods", 17, 20)]).toEqual(["5.5Gi", "2.5", "17"]);
  expect([requestedOf("hugepages-2Mi", GI, 2 * GI), requestedOf("example.com/gpu", 1, 8)]).toEqual(["1Gi / 2Gi", "1 / 8"]);
});
