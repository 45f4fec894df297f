process.env['KAFKA_DRIVER'] = 'platformatic';
await import('../two-pods.test.ts');
