import { pageHeaders, sharedPage } from '../../../service/sharing/page.ts'
import { sharedJson } from '../../../service/sharing/shared-json.ts'
import { createPages } from '../../../service/sharing/shared-view.ts'
import { failures } from '../errors.ts'
import { defineResource, Reply, type Visit } from '../resource.ts'

// What a public link opens. Withdrawn, unknown and deleted are the same: not found.

const open = async ({ app, params }: Visit, token = params.token ?? '') => {
  const opened = await app.sharing.links.open(token)
  const view = opened && (await app.sharing.views.of(opened.project, opened.link))
  // It may have been withdrawn while the answers were computed.
  if (!view || !(await app.sharing.links.open(token))) throw failures.notFound()
  return { view, project: opened.project.id, settings: opened.link.settings as { readonly noHeader?: boolean } }
}

const json = /\.json$/

const pages = createPages<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly layout: string; readonly size: number }>()

const page = async (visit: Visit, isEmbedded: boolean): Promise<Reply> => {
  const { view, project, settings } = await open(visit)
  const hasHeader = settings.noHeader !== true
  const made = await pages(view, project, `page ${hasHeader}`, async () => {
    const { html, layout } = await sharedPage(view, { hasHeader })
    return { bytes: new TextEncoder().encode(html), layout, size: html.length }
  })
  return new Reply(200, made.bytes, pageHeaders(made, isEmbedded))
}

/** A link may have been changed on its way to the reader, who could not repair it. */
const appended = 'A page that people open: mail programs and advertising systems append parameters of their own to links'

export const shared = defineResource({
  name: 'shared',
  summary: 'What a public link opens, for everybody who has its token ([sharing.md](sharing.md))',
  path: '/',
  reach: 'open',
  object: null,
  limits: ['shared'],
  rows: (row) => [
    row({
      method: 'GET',
      path: 'shared/:token',
      name: 'page',
      summary:
        'A page with the answers of one insight or one dashboard, which no other site may show in a frame; with `.json` behind the token, the answers as JSON',
      ignoresParameters: appended,
      handle: async (visit) => {
        const token = visit.params.token ?? ''
        if (!json.test(token)) return page(visit, false)
        const { view } = await open(visit, token.replace(json, ''))
        return new Reply(200, sharedJson(view), { 'x-robots-tag': 'noindex, nofollow' })
      },
    }),
    row({
      method: 'GET',
      path: 'embedded/:token',
      name: 'embedded',
      summary: 'The same page for the frames (`<iframe>`) of other sites',
      ignoresParameters: appended,
      handle: (visit) => page(visit, true),
    }),
  ],
})
