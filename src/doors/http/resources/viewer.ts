import { createHash } from 'node:crypto'
import * as z from 'zod'
import { runInSlices } from '../../../lib/flow/run-in-slices.ts'
import { jsonText } from '../../../lib/text/json-text.ts'
import { check, integer, jsonObject, text } from '../../../service/accounts/fields.ts'
import { inOrder } from '../../../service/pictures/grid.ts'
import { render } from '../../../service/pictures/markup.ts'
import { readChart } from '../../../service/pictures/read-chart.ts'
import { chartHeight, placesOf, wideBoard } from '../../../service/pictures/tile-places.ts'
import { tileText } from '../../../service/pictures/tile-text.ts'
import { tileWidth } from '../../../service/sharing/embed-style.ts'
import { sharedInsightJson } from '../../../service/sharing/shared-json.ts'
import type { SharedInsight } from '../../../service/sharing/shared-view.ts'
import { tilePicture } from '../../../service/sharing/tile-picture.ts'
import type { ViewedDashboard, ViewerDates } from '../../../service/viewers/answers.ts'
import type { OpenedToken } from '../../../service/viewers/keys.ts'
import { refusedToken } from '../../../service/viewers/tokens.ts'
import { type ViewerAnswer, viewerSchema } from '../../answers/sharing.ts'
import { time } from '../present.ts'
import { defineResource, Reply, type Visit } from '../resource.ts'

// What a token of a viewer opens. It comes from the page of another application, so no session counts, and the token is looked at anew with each request.

const opened = ({ app, request }: Visit): Promise<OpenedToken> => {
  const [, token] = /^bearer\s+(\S+)$/i.exec(request.headers.get('authorization')?.trim() ?? '') ?? []
  if (token === undefined) throw refusedToken('the Authorization header must have it, as `Bearer …`')
  return app.viewers.keys.open(token)
}

const [leastWidth, mostWidth, leastHeight, mostHeight] = [120, 2400, 80, 1600]
const dates = { date_from: text({ max: 40 }).optional(), date_to: text({ max: 40 }).optional(), interval: text({ max: 10 }).optional() }
const looks = z.object({
  ...dates,
  width: integer(leastWidth, mostWidth).optional(),
  height: integer(leastHeight, mostHeight).optional(),
})
const parameters = {
  date_from: 'Other dates than those of the insight, as `-30d` or `2026-01-31`',
  date_to: 'Their end',
  interval: '`hour`, `day`, `week` or `month`',
  width: 'With it, the answer has `markup`: the chart as HTML and SVG, as wide as this',
  height: 'Of the chart; default: what the kind of chart needs',
} as const

const usualHeight = 300
/** Drawing a large dashboard takes a while: others have their turn between its tiles. */
const sliceMs = 10
interface Size {
  readonly width?: number | undefined
  readonly height?: number | undefined
}

const chosenDates = (given: ViewerDates): ViewerDates =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== ''))
const readLooks = ({ query }: Visit) => {
  const { width, height, ...given } = check(looks, Object.fromEntries(query))
  return { size: { width, height }, dates: chosenDates(given) }
}

/** The chart, and the table of its numbers. */
const markupOf = ({ name, kind, query, answer, error }: SharedInsight, { width, height = usualHeight }: Size, timezone: string) => {
  if (width === undefined) return {}
  if (answer === null) return { markup: render({ name: 'p', attributes: {}, children: [error ?? 'There is no answer yet.'] }) }
  const sizes = [{ className: 'alone', widths: [width], height }] as const
  return {
    markup: tilePicture(readChart(query, answer, timezone), name || kind, sizes)
      .map(render)
      .join(''),
  }
}

/** The tiles of a board that is so wide, in their order; on a narrow one they have no place, and stand in one column. Each step draws one. */
function* placed(tiles: ViewedDashboard['tiles'], { width }: Size, timezone: string): Generator<void, readonly object[]> {
  const known = tiles.map((one) => ({ id: one.tile, layouts: one.layouts, text: 'text' in one ? one.text : null }))
  const places = inOrder(placesOf(known, width !== undefined && width < wideBoard ? 'xs' : 'sm'))
  const tileOf = new Map(tiles.map((one) => [one.tile, one]))
  const shown: object[] = []
  for (const { id, x, y, w, h } of places) {
    yield
    const tile = tileOf.get(id)!
    const place = width !== undefined && width < wideBoard ? null : { x, y, w, h }
    if ('text' in tile) {
      shown.push({ place, text: tile.text, ...(width !== undefined && { markup: tileText(tile.text).map(render).join('') }) })
      continue
    }
    const size = width === undefined ? {} : { width: tileWidth(width, w), height: chartHeight(h) }
    shown.push({ place, insight: { ...sharedInsightJson(tile), ...markupOf(tile, size, timezone) } })
  }
  return shown
}

/** Pages that follow their events ask again and again. */
const unlessKnown = ({ request }: Visit, body: object): Reply => {
  const etag = `W/"${createHash('sha256').update(jsonText(body)).digest('base64url').slice(0, 27)}"`
  const headers = { etag, 'cache-control': 'private, no-cache', vary: 'authorization' }
  return request.headers.get('if-none-match') === etag ? new Reply(304, undefined, headers) : new Reply(200, body, headers)
}

const idIn = ({ params }: Visit): number => (/^\d{1,9}$/.test(params.id ?? '') ? Number(params.id) : 0)

const queryInput = z.object({
  query: jsonObject('query'),
  width: integer(leastWidth, mostWidth).optional(),
  height: integer(leastHeight, mostHeight).optional(),
})

const mostPeople = 1000
const peopleInput = z.object({
  ...dates,
  point: jsonObject('query').optional().meta({
    description: 'As in an `InsightActorsQuery` or a `FunnelsActorsQuery`, without its source: `{"series": 0, "day": "2026-03-01"}`',
  }),
  limit: integer(1, mostPeople).optional(),
  offset: integer(0).optional(),
})

export const viewer = defineResource({
  name: 'viewer',
  summary: 'What the viewers of another application see, by a token that it has made for them ([viewers.md](viewers.md))',
  path: '/api/viewer',
  reach: 'open',
  object: null,
  limits: ['shared'],
  rows: (row) => [
    row({
      method: 'GET',
      name: 'retrieve',
      summary: 'What the token opens, and until when',
      answer: viewerSchema,
      isFromElsewhere: true,
      handle: async (visit): Promise<ViewerAnswer> => {
        const { project, claims } = await opened(visit)
        const { insights = [], dashboard = null, kinds = [], theme = {} } = claims.grant
        return {
          insights: [...insights],
          dashboard,
          kinds: [...kinds],
          theme,
          timezone: project.timezone,
          expires_at: time(claims.expiresAt),
        }
      },
    }),
    row({
      method: 'GET',
      path: 'insights/:id',
      name: 'insight',
      summary: 'The answer of an insight over the events of the viewer; with `If-None-Match`, 304 while it is the same',
      isFromElsewhere: true,
      queryParameters: parameters,
      handle: async (visit) => {
        const token = await opened(visit)
        const { size, dates } = readLooks(visit)
        const insight = await visit.app.viewers.answers.insight(token, idIn(visit), dates, visit.request.signal)
        const { timezone } = token.project
        return unlessKnown(visit, { timezone, insight: { ...sharedInsightJson(insight), ...markupOf(insight, size, timezone) } })
      },
    }),
    row({
      method: 'POST',
      path: 'insights/:id/people',
      name: 'people',
      summary: 'The people behind a point of an insight, for tokens with the kind `ActorsQuery`',
      isFromElsewhere: true,
      body: peopleInput,
      handle: async (visit) => {
        const token = await opened(visit)
        const { point = {}, limit, offset, ...given } = check(peopleInput, visit.body)
        const asked = { point, limit, offset }
        return (await visit.app.viewers.answers.people(token, idIn(visit), asked, chosenDates(given), visit.request.signal)).object
      },
    }),
    row({
      method: 'GET',
      path: 'dashboards/:id',
      name: 'dashboard',
      summary: 'The answers of a dashboard over the events of the viewer',
      isFromElsewhere: true,
      queryParameters: parameters,
      handle: async (visit) => {
        const token = await opened(visit)
        const { size, dates } = readLooks(visit)
        const { timezone } = token.project
        const { tiles, ...dashboard } = await visit.app.viewers.answers.dashboard(token, idIn(visit), dates, visit.request.signal)
        return unlessKnown(visit, {
          timezone,
          dashboard: { ...dashboard, tiles: await runInSlices(placed(tiles, size, timezone), sliceMs) },
        })
      },
    }),
    row({
      method: 'POST',
      path: 'query',
      name: 'query',
      summary: 'The answer of a query of the viewer, of a kind that its token names',
      isFromElsewhere: true,
      body: queryInput,
      handle: async (visit) => {
        const token = await opened(visit)
        const { query, width, height } = check(queryInput, visit.body)
        const answer = await visit.app.viewers.answers.query(token, query, visit.request.signal)
        const { timezone } = token.project
        const object = answer.object as Readonly<Record<string, unknown>>
        const one = { id: 0, tile: 0, name: '', description: '', kind: String(query.kind), query, answer: object, error: null, layouts: {} }
        return { timezone, ...object, ...markupOf(one, { width, height }, timezone) }
      },
    }),
  ],
})
