"""The tables of a new installation, in one step. `tests/sessions/test_migrations.py` compares them with those of the replaced migrations."""

import django.db.models.deletion
import django.db.models.functions.datetime
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [('scheduling', '0001_first'), ('scheduling', '0002_extender_answers'), ('scheduling', '0003_moments'), ('scheduling', '0004_stories_and_breakpoints'), ('scheduling', '0005_forks'), ('scheduling', '0006_tries'), ('scheduling', '0007_packed_history'), ('scheduling', '0008_observers'), ('scheduling', '0009_scheduler_figures'), ('scheduling', '0010_agreement'), ('scheduling', '0011_sealed_uploads'), ('scheduling', '0012_command_bytes'), ('scheduling', '0013_fork_origin'), ('scheduling', '0014_scheduler_metrics')]

    initial = True

    dependencies = [
        ('auth', '__first__'),
    ]

    operations = [
        migrations.CreateModel(
            name='Session',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=200)),
                ('status', models.CharField(choices=[('importing', 'Importing'), ('ready', 'Ready'), ('running', 'Running'), ('paused', 'Paused'), ('failed', 'Failed')], default='importing', max_length=16)),
                ('message', models.TextField(blank=True, default='')),
                ('progress', models.JSONField(blank=True, null=True)),
                ('source', models.JSONField(default=dict)),
                ('settings', models.JSONField(default=dict)),
                ('report', models.JSONField(blank=True, null=True)),
                ('calls_extenders', models.BooleanField(default=False)),
                ('engine_version', models.CharField(blank=True, default='', max_length=64)),
                ('fork_event', models.BigIntegerField(default=0)),
                ('fork_cycle', models.BigIntegerField(default=0)),
                ('fork_key', models.CharField(blank=True, default='', max_length=200)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('epoch', models.BigIntegerField(default=0)),
                ('lease_owner', models.CharField(blank=True, default='', max_length=200)),
                ('lease_until', models.FloatField(default=0.0)),
                ('acquisitions', models.PositiveIntegerField(default=0)),
                ('trying_seq', models.BigIntegerField(default=0)),
                ('tries', models.PositiveIntegerField(default=0)),
                ('last_seq', models.BigIntegerField(default=0)),
                ('interrupt_seq', models.BigIntegerField(default=0)),
                ('uploaded', models.BooleanField(default=False)),
                ('cancel_requested', models.BooleanField(default=False)),
                ('applied_seq', models.BigIntegerField(default=0)),
                ('chunk', models.BigIntegerField(default=0)),
                ('cycle', models.BigIntegerField(default=0)),
                ('event', models.BigIntegerField(default=0)),
                ('clock_seconds', models.FloatField(default=0.0)),
                ('history_bytes', models.BigIntegerField(default=0)),
                ('command_bytes', models.BigIntegerField(db_default=0, default=0)),
                ('nodes', models.BigIntegerField(default=0)),
                ('pods', models.BigIntegerField(default=0)),
                ('breakpoints_edit', models.PositiveIntegerField(default=0)),
                ('hit', models.JSONField(blank=True, null=True)),
                ('forked_from', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='forks', to='scheduling.session')),
                ('origin', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='all_forks', to='scheduling.session')),
                ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='scheduling_sessions', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['owner', '-created_at'], name='session_of_owner'), models.Index(fields=['status', 'lease_owner'], name='session_unowned')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('fork_key', ''), _negated=True), fields=('origin', 'owner', 'fork_key'), name='fork_key_unique')],
            },
        ),
        migrations.CreateModel(
            name='Agreement',
            fields=[
                ('session', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='agreement', serialize=False, to='scheduling.session')),
                ('agrees', models.BigIntegerField(default=0)),
                ('not_best', models.BigIntegerField(default=0)),
                ('infeasible', models.BigIntegerField(default=0)),
                ('unjudged', models.BigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name='Observer',
            fields=[
                ('session', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='observer', serialize=False, to='scheduling.session')),
                ('source', models.CharField(max_length=100)),
                ('n', models.BigIntegerField(default=0)),
                ('digest', models.CharField(blank=True, default='', max_length=64)),
                ('events', models.BigIntegerField(default=0)),
                ('last_seq', models.BigIntegerField(default=0)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('pushed_at', models.DateTimeField(blank=True, null=True)),
            ],
        ),
        migrations.CreateModel(
            name='SchedulerMetrics',
            fields=[
                ('session', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='scheduler_metrics', serialize=False, to='scheduling.session')),
                ('event', models.BigIntegerField()),
                ('data', models.BinaryField()),
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), db_index=True)),
            ],
            options={
                'db_table': 'scheduling_schedulerfigures',
            },
        ),
        migrations.CreateModel(
            name='Breakpoint',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('when', models.CharField(max_length=500)),
                ('enabled', models.BooleanField(default=True)),
                ('hits', models.PositiveIntegerField(default=0)),
                ('last_event', models.BigIntegerField(blank=True, null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='breakpoints', to='scheduling.session')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('session', 'number'), name='breakpoint_once')],
            },
        ),
        migrations.CreateModel(
            name='Checkpoint',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('event', models.BigIntegerField()),
                ('chunk', models.BigIntegerField()),
                ('cycle', models.BigIntegerField()),
                ('clock_seconds', models.FloatField(default=0.0)),
                ('applied_seq', models.BigIntegerField(default=0)),
                ('in_command', models.BooleanField(default=False)),
                ('has_engine', models.BooleanField(default=True)),
                ('engine_bytes', models.BigIntegerField(default=0)),
                ('view_bytes', models.BigIntegerField(default=0)),
                ('digest', models.CharField(max_length=128)),
                ('engine_version', models.CharField(max_length=64)),
                ('cost_seconds', models.FloatField(default=0.0)),
                ('epoch', models.BigIntegerField(default=0)),
                ('complete', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='checkpoints', to='scheduling.session')),
            ],
            options={
                'indexes': [models.Index(fields=['session', 'complete', '-event'], name='checkpoint_newest')],
            },
        ),
        migrations.CreateModel(
            name='CheckpointPiece',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('part', models.CharField(choices=[('engine', 'Engine'), ('view', 'View')], max_length=8)),
                ('number', models.PositiveIntegerField()),
                ('data', models.BinaryField()),
                ('checkpoint', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pieces', to='scheduling.checkpoint')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('checkpoint', 'part', 'number'), name='piece_once')],
            },
        ),
        migrations.CreateModel(
            name='Chunk',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.BigIntegerField()),
                ('first_event', models.BigIntegerField()),
                ('last_event', models.BigIntegerField()),
                ('first_cycle', models.BigIntegerField()),
                ('last_cycle', models.BigIntegerField()),
                ('data', models.BinaryField()),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='chunks', to='scheduling.session')),
            ],
            options={
                'indexes': [models.Index(fields=['session', 'last_event'], name='chunk_of_event')],
                'constraints': [models.UniqueConstraint(fields=('session', 'number'), name='chunk_once')],
            },
        ),
        migrations.CreateModel(
            name='ChunkNames',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.BigIntegerField()),
                ('names', models.BinaryField()),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='chunk_names', to='scheduling.session')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('session', 'number'), name='chunk_names_once')],
            },
        ),
        migrations.CreateModel(
            name='ChunkTally',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.BigIntegerField()),
                ('first_event', models.BigIntegerField()),
                ('last_event', models.BigIntegerField()),
                ('clock_seconds', models.FloatField()),
                ('cycles', models.IntegerField(default=0)),
                ('scheduled', models.IntegerField(default=0)),
                ('unschedulable', models.IntegerField(default=0)),
                ('errors', models.IntegerField(default=0)),
                ('preempted', models.IntegerField(default=0)),
                ('bound', models.IntegerField(default=0)),
                ('pod_moves', models.IntegerField(default=0)),
                ('node_changes', models.IntegerField(default=0)),
                ('active_q', models.IntegerField(default=0)),
                ('backoff_q', models.IntegerField(default=0)),
                ('unschedulable_pods', models.IntegerField(default=0)),
                ('pods', models.IntegerField(default=0)),
                ('nodes', models.IntegerField(default=0)),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tallies', to='scheduling.session')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('session', 'number'), name='tally_once')],
            },
        ),
        migrations.CreateModel(
            name='Command',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seq', models.BigIntegerField()),
                ('key', models.CharField(max_length=200)),
                ('body', models.BinaryField()),
                ('outcome', models.JSONField(blank=True, null=True)),
                ('stopped_event', models.BigIntegerField(blank=True, null=True)),
                ('accepted_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('applied_at', models.DateTimeField(blank=True, null=True)),
                ('quarantined', models.BooleanField(default=False)),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='commands', to='scheduling.session')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('session', 'seq'), name='command_seq_once'), models.UniqueConstraint(fields=('session', 'key'), name='command_key_once')],
            },
        ),
        migrations.CreateModel(
            name='CycleDetail',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('cycle', models.BigIntegerField()),
                ('engine_version', models.CharField(max_length=64)),
                ('data', models.BinaryField(default=b'')),
                ('error', models.TextField(blank=True, default='')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='details', to='scheduling.session')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('session', 'cycle'), name='detail_once')],
            },
        ),
        migrations.CreateModel(
            name='CycleGroup',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('first_cycle', models.BigIntegerField()),
                ('last_cycle', models.BigIntegerField()),
                ('last_event', models.BigIntegerField()),
                ('data', models.BinaryField()),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='cycle_groups', to='scheduling.session')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('session', 'last_cycle'), name='cycle_group_once')],
            },
        ),
        migrations.CreateModel(
            name='ExtenderAnswer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('event', models.BigIntegerField()),
                ('body', models.BinaryField()),
                ('error', models.TextField(blank=True, default='')),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='extender_answers', to='scheduling.session')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('session', 'event'), name='extender_answer_once')],
            },
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('viewer', 'Viewer'), ('editor', 'Editor')], default='viewer', max_length=16)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='scheduling.session')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='scheduling_memberships', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('session', 'user'), name='membership_once')],
            },
        ),
        migrations.CreateModel(
            name='Observed',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=63)),
                ('key', models.CharField(max_length=512)),
                ('uid', models.CharField(blank=True, default='', max_length=128)),
                ('version', models.CharField(blank=True, default='', max_length=64)),
                ('terminating', models.BooleanField(default=False)),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='observed', to='scheduling.session')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('session', 'kind', 'key'), name='observed_once')],
            },
        ),
        migrations.CreateModel(
            name='ShadowedPod',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('pod', models.CharField(max_length=512)),
                ('uid', models.CharField(blank=True, default='', max_length=128)),
                ('arrived_event', models.BigIntegerField(blank=True, null=True)),
                ('arrival', models.JSONField(blank=True, null=True)),
                ('bound_event', models.BigIntegerField(blank=True, null=True)),
                ('node', models.CharField(blank=True, default='', max_length=253)),
                ('verdict', models.CharField(blank=True, default='', max_length=16)),
                ('judgement', models.JSONField(blank=True, null=True)),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='shadowed', to='scheduling.session')),
            ],
            options={
                'indexes': [models.Index(fields=['session', '-bound_event'], name='shadowed_newest'), models.Index(fields=['session', 'verdict', '-bound_event'], name='shadowed_of_verdict')],
                'constraints': [models.UniqueConstraint(fields=('session', 'pod', 'uid'), name='shadowed_once')],
            },
        ),
        migrations.CreateModel(
            name='ShareLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('role', models.CharField(choices=[('viewer', 'Viewer'), ('editor', 'Editor')], default='viewer', max_length=16)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='share_links', to='scheduling.session')),
            ],
        ),
        migrations.CreateModel(
            name='Upload',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('file', models.PositiveIntegerField()),
                ('name', models.CharField(max_length=255)),
                ('number', models.PositiveIntegerField()),
                ('data', models.BinaryField()),
                ('sealed', models.BooleanField(db_default=False, default=False)),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='uploads', to='scheduling.session')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('session', 'file', 'number'), name='upload_once')],
            },
        ),
    ]
