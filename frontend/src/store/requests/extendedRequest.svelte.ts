import { fetchStoredObject } from "../../api/objects";
import { extendedResourceOf, type RequestingPod } from "../../model/cache/extendedResource";
import { splitKey } from "../../model/names";
import type { SessionStore } from "../session/sessionStore.svelte";

/** The extended resource that the selected pod requests: the view has no requests of pods that wait. */
export class ExtendedRequest {
  /** Its name; "": none, or not loaded yet. */
  resource = $state("");
  private inFlight: AbortController | null = null;

  constructor(private readonly store: SessionStore) {}

  /** Load the request of a pod as it is at the shown moment; null: no pod is selected. */
  follow(pod: string | null): void {
    this.close();
    this.resource = "";
    if (pod === null) return;
    const { signal } = (this.inFlight = new AbortController());
    fetchStoredObject<RequestingPod>(this.store.id, { kind: "Pod", ...splitKey(pod) }, this.store.event, signal).then(
      (stored) => {
        if (!signal.aborted) this.resource = extendedResourceOf(stored);
      },
      () => undefined, // The nodes are drawn without it.
    );
  }

  close(): void {
    this.inFlight?.abort();
  }
}
