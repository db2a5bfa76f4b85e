import { ApiError } from "../../api/call";
import { sendCommand } from "../../api/commands";
import { withTitle } from "../../i18n/failure";
import { t } from "../../i18n/translate";
import type { AnyCommand } from "../../model/generated";

/** The result of a command, as the page shows it. */
export type CommandResult =
  | { tone: "done" | "nothing"; text: string }
  | { tone: "refused"; text: string; path: string; expected: string; found: string; hint: string };

/** Sends commands in order and stores the last result. */
export class CommandRunner {
  busy = $state(false);
  result = $state.raw<CommandResult | null>(null);

  constructor(private readonly session: string) {}

  /** Fetch what a command needs; null if the request failed, with the error in `result`. */
  async prepare<T>(request: () => Promise<T>): Promise<T | null> {
    this.busy = true;
    this.result = null;
    try {
      return await request();
    } catch (error) {
      this.result = refusal(error);
      return null;
    } finally {
      this.busy = false;
    }
  }

  /** Send the commands in order, up to the first that is refused. True: all were accepted. `done`: the message on success. */
  async run(commands: readonly AnyCommand[], done: string): Promise<boolean> {
    this.busy = true;
    this.result = null;
    try {
      for (const command of commands) {
        const response = await sendCommand(this.session, command);
        const { error, result } = response.outcome ?? {};
        if (error) {
          this.result = refusal(new ApiError(409, error, "", placeIn(error)));
          return false;
        }
        if (result) {
          this.result = { tone: "nothing", text: result };
          return false;
        }
        if (!response.outcome) {
          this.result = { tone: "nothing", text: response.status === "quarantined" ? t("do.quarantined") : t("do.accepted") };
          return response.status !== "quarantined";
        }
      }
      this.result = { tone: "done", text: done };
      return true;
    } catch (error) {
      this.result = refusal(error);
      return false;
    } finally {
      this.busy = false;
    }
  }
}

/** The path at the start of a scheduler message: `config: profiles[0].pluginConfig[1].args.weight: Invalid value …`. */
function placeIn(message: string): { path?: string } {
  const [, within, path] = /^(config|object): \[?([a-zA-Z]\w*(?:[.[][\w.[\]]*)?): /.exec(message) ?? [];
  return within && path ? { path: `${within}.${path}` } : {};
}

export function refusal(error: unknown): CommandResult {
  const apiError = error instanceof ApiError ? error : new ApiError(0, error instanceof Error ? error.message : String(error));
  const { path = "", expected = "", found = "", hint = "" } = apiError.detail;
  const text = apiError.status === 0 && !apiError.sentence ? t("error.unreachable") : withTitle(apiError, apiError.sentence);
  return { tone: "refused", text: path ? text.replace(`${path}: `, "") : text, path, expected, found, hint };
}
