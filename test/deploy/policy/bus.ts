import { environmentOf, gatewaysOf, isBeside, titleOf, type Container, type Manifest } from './manifests.ts';

const REDIS = ['REDIS_URL', 'REDIS_SENTINELS', 'REDIS_CLUSTER'] as const;

/** Several gateways without Redis: valid, and hardly what is meant. */
export const busNotes = (manifests: readonly Manifest[]): string[] =>
  gatewaysOf(manifests)
    .filter((gateway) => isSeveral(manifests, gateway))
    .filter((gateway) => !gateway.spec.template.spec.containers.some(hasRedis(manifests, gateway)))
    .map(
      (gateway) =>
        `${titleOf(gateway)}: without one of ${REDIS.join(', ')} each pod reads all events from Kafka, and keeps no positions`,
    );

function isSeveral(manifests: readonly Manifest[], gateway: Manifest): boolean {
  const autoscaler = manifests.find(
    (one) =>
      one.kind === 'HorizontalPodAutoscaler' &&
      one.spec.scaleTargetRef.name === gateway.metadata.name &&
      isBeside(one, gateway),
  );
  const pods = autoscaler === undefined ? gateway.spec.replicas : autoscaler.spec.maxReplicas;
  return (pods ?? 1) > 1;
}

const hasRedis =
  (manifests: readonly Manifest[], gateway: Manifest) =>
  (container: Container): boolean => {
    const environment = environmentOf(manifests, gateway, container);
    return REDIS.some((name) => (environment[name] ?? '') !== '');
  };
