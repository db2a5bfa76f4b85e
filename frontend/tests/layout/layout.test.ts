import { describe, expect, it } from "vitest";

import { overlaps } from "../../src/layout/boxes";
import { layoutCacheList, maxPods, minHeight, wantedHeight, indexAt, seenBox, WHOLE_BAND, zoomBand } from "../../src/layout/cacheList";
import { layoutHeap } from "../../src/layout/heapTree";
import { heightForPods, podAt, podMarks, podsBelow } from "../../src/layout/podMarks";
import { sweptWaterline, waterline } from "../../src/layout/waterline";
import { WaterlineAnimation } from "../../src/render/waterlineAnimation";

describe.each([
  [4, 506, 490],
  [30, 506, 490],
  [150, 506, 490],
  [1_523, 506, 490],
  [5_000, 506, 490],
  [5_000, 800, 760],
])("the list of %i nodes in %i × %i", (count, width, height) => {
  const layout = layoutCacheList(count, width, height);

  it("has a box for each node, without overlaps and within the area", () => {
    expect(layout.boxes).toHaveLength(count);
    for (let place = 0; place < count; place++) {
      const box = layout.boxes[place]!;
      expect(box.x + box.w).toBeLessThanOrEqual(width);
      expect(box.y + box.h).toBeLessThanOrEqual(height + 1);
      const next = layout.boxes[place + 1];
      if (next) expect(overlaps(box, next)).toBe(false);
    }
  });

  it("finds the node under a point", () => {
    for (const place of [0, 1, Math.floor(count / 2), count - 1]) {
      const box = layout.boxes[place]!;
      expect(indexAt(layout, WHOLE_BAND, box.x + box.w / 2, box.y + box.h / 2)).toBe(place);
    }
    expect(indexAt(layout, WHOLE_BAND, -5, -5)).toBe(-1);
  });

  it("is in reading order: each box is to the right of the previous one or on a lower line", () => {
    for (let place = 1; place < count; place++) {
      const before = layout.boxes[place - 1]!;
      const box = layout.boxes[place]!;
      expect(box.y > before.y || (box.y === before.y && box.x > before.x)).toBe(true);
    }
  });
});

describe("a list of fifty to a hundred nodes", () => {
  it.each([
    [50, 426, 340],
    [50, 506, 300],
    [90, 426, 420],
  ])("with %d items leaves no room for another line of slips: %d × %d", (count, width, height) => {
    const { boxes, slipCount, band } = layoutCacheList(count, width, height);
    const last = boxes[boxes.length - 1]!;
    expect(last.y + last.h).toBeLessThanOrEqual(height);
    expect(boxes).toHaveLength(count);
    if (band && band.pitch >= 30) expect(height - (band.y + band.h)).toBeLessThan(40 + 30);
    expect(slipCount).toBeGreaterThan(0);
  });
});

describe("a list with large boxes only", () => {
  it("has lines of equal length that fill the height", () => {
    const { boxes, boxCount } = layoutCacheList(4, 330, 230);

    expect(boxCount).toBe(4);
    expect(boxes.map(({ x }) => x > 0)).toEqual([false, true, false, true]);
    expect(boxes[3]!.y + boxes[3]!.h).toBeGreaterThan(220);
    expect(boxes[3]!.y + boxes[3]!.h).toBeLessThanOrEqual(230);
  });

  it("has four nodes in two lines even if three fit side by side", () => {
    const { boxes } = layoutCacheList(4, 506, 230);

    expect(new Set(boxes.map(({ y }) => y)).size).toBe(2);
    expect(boxes.filter(({ y }) => y === 0)).toHaveLength(2);
  });
});

describe("a short list in a narrow and low frame", () => {
  it.each([4, 5, 12])("consists of %i boxes of one size if it scrolls", (count) => {
    const { boxes, boxCount } = layoutCacheList(count, 220, minHeight(count, 220));

    expect(boxCount).toBe(count);
    expect(new Set(boxes.map(({ w, h }) => `${w} × ${h}`)).size).toBe(1);
    expect(boxes[count - 1]!.y + boxes[count - 1]!.h).toBeLessThanOrEqual(minHeight(count, 220));
  });

  it("does not scroll if it is longer", () => {
    expect(minHeight(17, 220)).toBe(0);
  });
});

describe("the band", () => {
  const layout = layoutCacheList(1_500, 506, 490);

  it("zooms around the pointer, which stays on the same node", () => {
    const place = 700;
    const box = layout.boxes[place]!;
    const [x, y] = [box.x + 2, box.y + 2];
    const view = zoomBand(layout, WHOLE_BAND, 6, x, y);
    expect(view.scale).toBe(6);
    expect(indexAt(layout, view, x, y)).toBe(place);
    expect(seenBox(layout, view, place).w).toBeCloseTo(box.w * 6);
    expect(seenBox(layout, view, 0)).toEqual(layout.boxes[0]);
  });

  it("is shown completely again when it is zoomed out", () => {
    const view = zoomBand(layout, zoomBand(layout, WHOLE_BAND, 6, 100, 300), 0.01, 100, 300);
    expect(view).toEqual(WHOLE_BAND);
  });
});

describe("the waterline", () => {
  const { boxes } = layoutCacheList(4, 506, 490);

  it("steps up between two items of a line", () => {
    const path = waterline(boxes, 0, 506);
    expect(path).toHaveLength(4);
    expect(path[1]!.x).toBeGreaterThan(boxes[0]!.x + boxes[0]!.w);
    expect(path[1]!.x).toBeLessThan(boxes[1]!.x);
    expect(path[0]!.y).toBeGreaterThan(boxes[0]!.y + boxes[0]!.h);
    expect(path[3]!.y).toBeLessThan(boxes[0]!.y);
  });

  it("is horizontal at the end of a line, above the first item and below the last", () => {
    for (const place of [1, -1, 3]) expect(waterline(boxes, place, 506)).toHaveLength(2);
    expect(waterline(boxes, -1, 506)[0]!.y).toBeLessThan(0);
    expect(waterline(boxes, 3, 506)[0]!.y).toBeGreaterThan(boxes[3]!.y + boxes[3]!.h);
  });
});

describe("the pods of an item", () => {
  it("that do not fit into the box are the oldest", () => {
    const large = podMarks({ x: 0, y: 0, w: 240, h: 168 }, 9);
    expect(large.squares.length + large.hidden).toBe(9);
    expect(large.first).toBe(large.hidden);
    const small = podMarks({ x: 0, y: 0, w: 150, h: 96 }, 40);
    expect(small.squares.length + small.hidden).toBe(40);
    const last = small.areas[small.areas.length - 1]!;
    expect(podAt({ x: 0, y: 0, w: 150, h: 96 }, 40, last.x + 2, last.y + 2)).toBe(39);
    expect(podAt({ x: 0, y: 0, w: 150, h: 96 }, 40, 5, 5)).toBe(-1);
  });
});

describe("the names of an item's pods", () => {
  const box = (w: number, h: number): { x: number; y: number; w: number; h: number } => ({ x: 0, y: 0, w, h });

  it("are shown in a low box if there is room below its bars", () => {
    expect(podMarks(box(232, 107), 2).named).toBe(true);
    expect(podMarks(box(232, 107), 2).areas.every(({ y, h }) => y + h <= 107)).toBe(true);
    expect(podMarks(box(232, 80), 1).named).toBe(false);
  });

  it("are in columns if they do not fit below each other", () => {
    const { named, areas, hidden } = podMarks(box(232, 107), 4);
    expect([named, hidden, new Set(areas.map(({ x }) => x)).size]).toEqual([true, 0, 2]);
    expect(areas.every(({ x, w }) => x + w <= 232)).toBe(true);
  });

  it("make room for squares if there are too many pods in a low box", () => {
    expect(podMarks(box(232, 107), 5)).toMatchObject({ named: false, hidden: 0 });
  });

  it("begin where an arriving pod lands", () => {
    expect(podsBelow(box(232, 107), 2)).toBe(podMarks(box(232, 107), 2).areas[0]!.y + 8);
    expect(podsBelow(box(232, 107), 9)).toBeGreaterThan(107 - 14);
  });
});

describe("the height of boxes", () => {
  it("follows from the pods of the fullest node, and so does the height that the list asks for", () => {
    const [few, many] = [layoutCacheList(4, 506, 490, 3), layoutCacheList(4, 506, 490, 9)];
    expect(few.boxes[0]!.h).toBeLessThan(many.boxes[0]!.h);
    expect(podMarks(few.boxes[0]!, 3)).toMatchObject({ named: true, hidden: 0 });
    expect(wantedHeight(4, 506, 3)).toBeLessThan(wantedHeight(4, 506, 9));
    expect(wantedHeight(4, 342, 3)).toBeLessThan(340);
    expect(layoutCacheList(4, 342, wantedHeight(4, 342, 3), 3).boxCount).toBe(4);
    const alone = layoutCacheList(4, 506, wantedHeight(4, 506, 3, { isAlone: true }), 3).boxes[0]!;
    expect(wantedHeight(4, 506, 3)).toBeLessThan(wantedHeight(4, 506, 3, { isAlone: true }));
    expect(podMarks(alone, 3)).toMatchObject({ named: true, hidden: 0 });
    expect(podMarks(alone, 3).areas.every(({ y, h }) => y + h <= alone.h)).toBe(true);
    expect(podMarks(alone, 3).squares[0]!.w).toBeGreaterThan(podMarks({ x: 0, y: 0, w: 240, h: 168 }, 3).squares[0]!.w);
    expect(maxPods([{ podOrder: ["a"] }, { podOrder: ["b", "c"] }, { podOrder: [] }])).toBe(2);
  });
});

describe("boxes that nothing else needs the room of", () => {
  it.each([0, 1, 2, 3, 4, 5, 6])("have no empty half with %i pods, and keep their height for up to three", (pods) => {
    const { h } = layoutCacheList(4, 506, wantedHeight(4, 506, pods, { isAlone: true }), pods).boxes[0]!;
    expect(h).toBe(pods <= 3 ? layoutCacheList(4, 506, 490, 3).boxes[0]!.h : heightForPods(pods, h));
    expect(podMarks({ x: 0, y: 0, w: 240, h }, pods)).toMatchObject({ named: true, hidden: 0 });
  });
});

describe("the heap as a tree", () => {
  it("puts children below their parent and counts entries that do not fit", () => {
    const layout = layoutHeap(5_000, 250, 300);
    expect(layout.boxes.length + layout.hidden).toBe(5_000);
    for (let place = 1; place < layout.boxes.length; place++)
      expect(layout.boxes[place]!.y).toBeGreaterThan(layout.boxes[(place - 1) >> 1]!.y);
    expect(layoutHeap(0, 250, 300).boxes).toEqual([]);
  });
});

describe("the moving waterline", () => {
  const { boxes, width } = layoutCacheList(150, 506, 490);
  const end = (place: number): number => Math.max(...sweptWaterline(boxes, place, width).slice(0, 2).map(({ x }) => x));

  it("equals the waterline at whole positions", () => {
    for (const place of [-1, 0, 5, 149]) expect(sweptWaterline(boxes, place, width)).toEqual(waterline(boxes, place, width));
  });

  it("advances from item to item, and never moves back within a line", () => {
    for (let place = 0; place < 60; place += 0.25) {
      const [before, after] = [sweptWaterline(boxes, place, width), sweptWaterline(boxes, place + 0.25, width)];
      if (before[0]!.y === after[0]!.y) expect(end(place + 0.25)).toBeGreaterThanOrEqual(end(place));
      else expect(after[0]!.y).toBeGreaterThan(before[0]!.y);
    }
  });
});

describe("the waterline animation", () => {
  it("moves from before headNode to the end of a new walk, and not for an earlier one", () => {
    const sweep = new WaterlineAnimation();
    sweep.follow("found", 0, false);
    expect(sweep.place(7, 10, 200)).toBe(7);

    sweep.follow("made", 1_000, true);
    expect(sweep.place(7, 1_000, 200)).toBe(-1);
    expect(sweep.place(7, 1_100, 200)).toBeGreaterThan(0);
    expect(sweep.moving(1_100, 200)).toBe(true);
    expect(sweep.place(7, 1_200, 200)).toBe(7);
    expect(sweep.place(7, 1_001, 0), "stillness was asked for").toBe(7);
  });
});
