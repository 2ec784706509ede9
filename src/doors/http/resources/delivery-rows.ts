import type { NoticeDelivery } from '../../../service/accounts/records.ts'
import type { Source } from '../../../service/notifications/deliveries.ts'
import { deliverySchema, testSchema } from '../../answers/notifications.ts'
import { pageSchema } from '../../answers/pages.ts'
import { pageBounds, pageWith, paging } from '../requests/pages.ts'
import { type ProjectVisit, type Row, type RowMaker, seesAddresses } from '../resource.ts'
import { deliveryParameters, presentDelivery, statesIn } from './notification-format.ts'

/** What became of the notices of an alert or a subscription. `test`: how one is sent without a cause. */
export const deliveryRows = (
  row: RowMaker<'project'>,
  sourceIn: (visit: ProjectVisit) => Promise<Source>,
  test: Pick<Row, 'summary' | 'limits'> & Partial<Pick<Row, 'status'>>,
): readonly Row[] => {
  const found = async (visit: ProjectVisit) => {
    const source = await sourceIn(visit)
    const { created_by_id } = 'alert' in source ? source.alert : source.subscription
    const showsAddress = seesAddresses(visit, created_by_id)
    return { source, present: (one: NoticeDelivery) => presentDelivery(one, showsAddress) }
  }
  return [
    row({
      method: 'GET',
      path: ':id/deliveries',
      name: 'deliveries',
      summary: 'Deliveries that were sent, wait for another attempt or failed, newest first',
      answer: pageSchema(deliverySchema),
      queryParameters: { ...paging, ...deliveryParameters },
      handle: async (visit) => {
        const { source, present } = await found(visit)
        const { rows, count } = await visit.app.notifications.deliveries.list(source, statesIn(visit.query), pageBounds(visit.query))
        return pageWith(rows.map(present), count, visit)
      },
    }),
    row({
      method: 'POST',
      path: ':id/deliveries/:delivery_id/retry',
      name: 'retry_delivery',
      summary: 'Retries a failed delivery',
      limits: ['api', 'test'],
      answer: deliverySchema,
      handle: async (visit) => {
        const { source, present } = await found(visit)
        return present(await visit.app.notifications.deliveries.retry(visit.by, source, visit.params.delivery_id ?? ''))
      },
    }),
    row({
      method: 'POST',
      path: ':id/test-delivery',
      name: 'test_delivery',
      answer: testSchema,
      ...test,
      handle: async (visit) => {
        const { source, present } = await found(visit)
        return { deliveries: (await visit.app.notifications.deliveries.test(source, visit.request.signal)).map(present) }
      },
    }),
  ]
}
