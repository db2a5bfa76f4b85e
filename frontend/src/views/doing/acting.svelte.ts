import { ApiError } from "../../api/call";
import { sendCommand } from "../../api/commands";
import { headed } from "../../i18n/failure";
import { t } from "../../i18n/translate";
import type { AnyCommand } from "../../model/generated";

/** What came of the last thing that somebody asked for here. */
export type Told =
  | { tone: "done" | "nothing"; text: string }
  | { tone: "refused"; text: string; path: string; expected: string; found: string; hint: string };

/** Sends commands one after the other, and holds what came of the last. */
export class Acting {
  busy = $state(false);
  told = $state.raw<Told | null>(null);

  constructor(private readonly session: string) {}

  /** What a command needs to be asked for first; null where that failed, which is told. */
  async prepare<T>(ask: () => Promise<T>): Promise<T | null> {
    this.busy = true;
    this.told = null;
    try {
      return await ask();
    } catch (error) {
      this.told = refusal(error);
      return null;
    } finally {
      this.busy = false;
    }
  }

  /** Do these in order, up to the first that is refused. True: all were done. `done` says so in words. */
  async carryOut(commands: readonly AnyCommand[], done: string): Promise<boolean> {
    this.busy = true;
    this.told = null;
    try {
      for (const command of commands) {
        const answer = await sendCommand(this.session, command);
        const { error, result } = answer.outcome ?? {};
        if (error) {
          this.told = refusal(new ApiError(409, error, "", placeIn(error)));
          return false;
        }
        if (result) {
          this.told = { tone: "nothing", text: result };
          return false;
        }
        if (!answer.outcome) {
          this.told = { tone: "nothing", text: answer.status === "quarantined" ? t("do.quarantined") : t("do.accepted") };
          return answer.status !== "quarantined";
        }
      }
      this.told = { tone: "done", text: done };
      return true;
    } catch (error) {
      this.told = refusal(error);
      return false;
    } finally {
      this.busy = false;
    }
  }
}

/** The path with which a message of the scheduler begins: `config: profiles[0].pluginConfig[1].args.weight: Invalid value …`. */
function placeIn(message: string): { path?: string } {
  const [, within, path] = /^(config|object): \[?([a-zA-Z]\w*(?:[.[][\w.[\]]*)?): /.exec(message) ?? [];
  return within && path ? { path: `${within}.${path}` } : {};
}

export function refusal(error: unknown): Told {
  const known = error instanceof ApiError ? error : new ApiError(0, error instanceof Error ? error.message : String(error));
  const { path = "", expected = "", found = "", hint = "" } = known.detail;
  const text = known.status === 0 && !known.sentence ? t("error.unreachable") : headed(known, known.sentence);
  return { tone: "refused", text: path ? text.replace(`${path}: `, "") : text, path, expected, found, hint };
}
