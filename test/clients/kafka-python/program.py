"""Produces to Kafka with the serializers of confluent-kafka, and decodes values, as a test tells it by lines of JSON."""

import base64
import io
import json
import math
import os
import sys

from confluent_kafka import Producer
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from fastavro import parse_schema, schemaless_reader
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory, timestamp_pb2  # noqa: F401


def plain(value):
    """A value as JSON has it: bytes in base64, and numbers that JSON has not as text."""
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    return value


def message_class(file, name):
    pool = descriptor_pool.DescriptorPool()
    common = descriptor_pb2.FileDescriptorProto()
    timestamp_pb2.DESCRIPTOR.CopyToProto(common)
    pool.Add(common)
    proto = descriptor_pb2.FileDescriptorProto()
    proto.ParseFromString(base64.b64decode(file))
    pool.Add(proto)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(name))


class Program:
    def __init__(self):
        self.registry = None
        self.producer = None
        self.serializers = {}

    def decode_avro(self, schema, value):
        parsed = parse_schema(json.loads(schema))
        return plain(schemaless_reader(io.BytesIO(base64.b64decode(value)), parsed))

    def decode_protobuf(self, file, message, value):
        decoded = message_class(file, message).FromString(base64.b64decode(value))
        return json_format.MessageToDict(
            decoded, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
        )

    def connect(self, registry):
        self.registry = SchemaRegistryClient({"url": registry})
        self.serializers = {}
        self.producer = self.producer or Producer({"bootstrap.servers": os.environ["KAFKA_BROKERS"]})

    def register(self, subject, format, schema):
        return self.registry.register_schema(subject, Schema(schema, format))

    def serializer(self, topic, format, schema, message):
        key = (topic, format, schema)
        if key not in self.serializers:
            self.serializers[key] = self.make(format, schema, message)
        return self.serializers[key]

    def make(self, format, schema, message):
        if format == "AVRO":
            return AvroSerializer(self.registry, schema)
        if format == "JSON":
            return JSONSerializer(schema, self.registry)
        kind = message_class(schema, message)
        serialize = ProtobufSerializer(kind, self.registry, {"use.deprecated.format": False})
        return lambda value, context: serialize(json_format.ParseDict(value, kind()), context)

    def serialize(self, topic, values, format, schema, message=None):
        """Learns the id of the schema, which serializers keep."""
        for value in values:
            self.serializer(topic, format, schema, message)(value, SerializationContext(topic, MessageField.VALUE))
        return len(values)

    def produce(self, topic, values, format=None, schema=None, message=None, headers={}, key=None, partition=0):
        for value in values:
            if format is None:
                data = json.dumps(value).encode()
            else:
                context = SerializationContext(topic, MessageField.VALUE)
                data = self.serializer(topic, format, schema, message)(value, context)
            given = [(name, text.encode()) for name, text in headers.items()]
            self.producer.produce(topic, data, key=key, headers=given, partition=partition)
        left = self.producer.flush(30)
        if left > 0:
            raise RuntimeError(f"expected Kafka to take all messages, {left} are left")
        return len(values)


def main():
    program = Program()
    for line in sys.stdin:
        command = json.loads(line)
        id = command.pop("id")
        try:
            result = getattr(program, command.pop("do"))(**command)
            print(json.dumps({"id": id, "data": result}), flush=True)
        except Exception as error:
            print(json.dumps({"id": id, "error": f"{type(error).__name__}: {error}"}), flush=True)


main()
