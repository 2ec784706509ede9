import { sessionLifetime } from '../../src/service/accounts/users/sessions.ts'
import type { World } from './world.ts'

/** Those that were acknowledged, by their tokens. */
export class Sessions {
  readonly open: string[] = []
  readonly ended: string[] = []
  private first: number | null = null

  forget(): void {
    this.open.length = 0
    this.ended.length = 0
  }

  async judge(world: World): Promise<void> {
    const { sessions } = world.waymark.accounts
    const now = world.machine.schedule.wallClock()
    this.first ??= now
    // All end once a run is older than any of them may be, and with a clock that is set back.
    if (now < this.first || now - this.first > sessionLifetime / 2) return this.forget()
    for (const token of this.open) if (!(await world.until(sessions.find(token)))) throw new Error('lost: a session')
    for (const token of this.ended) if (await world.until(sessions.find(token))) throw new Error('a session that was ended is there again')
    if (this.open.length > 0) world.meets('sessions')
  }
}
