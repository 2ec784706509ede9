import { startSession } from '../../../src/service/accounts/users/sessions.ts'
import { actor } from './actor.ts'

/** The owner signs in, and out of the latest session. What was acknowledged holds, also after a power cut. */
export const session = actor<{ readonly signsIn: boolean }>({
  weight: 2,
  isAlone: true,
  draw: ({ draw }) => ({ signsIn: draw() < 0.7 }),
  async perform({ waymark, sessions }, { signsIn }) {
    const { accounts } = waymark
    if (signsIn) {
      const { user } = await accounts.firstStart({ makesKey: false })
      const from = { user_agent: 'browser', address: null }
      sessions.open.push(await accounts.context.store.write((tables) => startSession(accounts.context, tables, user, from)))
      return
    }
    const token = sessions.open.pop()
    if (token === undefined) return
    await accounts.sessions.end(token)
    sessions.ended.push(token)
  },
  leaves: () => null,
})
