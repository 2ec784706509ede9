import { actor, pick } from './actor.ts'

/** An administrator sets how many months events are kept, and those of a name. */
export const retain = actor({
  weight: 1,
  isAlone: true,
  draw: ({ draw }) => {
    const names: Record<string, number> = draw() < 0.3 ? { bought: pick(draw, [1, 3]) } : {}
    return { months: pick(draw, [null, 1, 2, 6, 12]), names }
  },
  async perform({ waymark, project: { id } }, { months, names }) {
    const { projects } = waymark.accounts
    const record = await projects.byId(id)
    await projects.update(null, record!, { data_retention: { events_months: months, event_names: names, persons_months: null } })
  },
  leaves: (retention) => ({ deed: 'retention', retention }),
})
