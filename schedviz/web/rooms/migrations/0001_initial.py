import django.db.models.deletion
import django.db.models.functions.datetime
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '__first__'),
        ('scheduling', '0008_observers'),
    ]

    operations = [
        migrations.CreateModel(
            name='Room',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('title', models.CharField(blank=True, default='', max_length=200)),
                ('code', models.CharField(max_length=8)),
                ('status', models.CharField(choices=[('open', 'Open'), ('locked', 'Locked'), ('ended', 'Ended')], default='open', max_length=8)),
                ('kept', models.BooleanField(default=False)),
                ('moment', models.JSONField(blank=True, null=True)),
                ('moment_at', models.FloatField(default=0.0)),
                ('revision', models.BigIntegerField(default=0)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('active_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('session', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='rooms', to='scheduling.session')),
                ('shown', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='shown_in_rooms', to='scheduling.session')),
                ('teacher', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='schedviz_rooms', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['teacher', '-created_at'], name='room_of_teacher')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('code', ''), _negated=True), fields=('code',), name='room_code_once')],
            },
        ),
        migrations.CreateModel(
            name='Question',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('stop', models.CharField(blank=True, default='', max_length=60)),
                ('text', models.CharField(blank=True, default='', max_length=500)),
                ('kind', models.CharField(choices=[('choice', 'Choice'), ('number', 'Number'), ('node', 'Node'), ('nodes', 'Nodes'), ('pod', 'Pod'), ('text', 'Text')], max_length=8)),
                ('options', models.JSONField(default=list)),
                ('is_open', models.BooleanField(default=True)),
                ('revealed', models.BooleanField(default=False)),
                ('right', models.CharField(blank=True, default='', max_length=200)),
                ('asked_at', models.DateTimeField()),
                ('tally', models.JSONField(blank=True, null=True)),
                ('session', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='scheduling.session')),
                ('room', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='questions', to='rooms.room')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('room', 'number'), name='question_once')],
            },
        ),
        migrations.CreateModel(
            name='Participant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(max_length=64)),
                ('nickname', models.CharField(max_length=32)),
                ('folded', models.CharField(max_length=128)),
                ('hand_at', models.DateTimeField(blank=True, null=True)),
                ('following', models.BooleanField(default=True)),
                ('here_until', models.FloatField(default=0.0)),
                ('removed', models.BooleanField(default=False)),
                ('joined_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('room', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='participants', to='rooms.room')),
            ],
            options={
                'indexes': [models.Index(fields=['digest'], name='participant_digest')],
                'constraints': [models.UniqueConstraint(fields=('room', 'digest'), name='participant_once'), models.UniqueConstraint(condition=models.Q(('removed', False)), fields=('room', 'folded'), name='nickname_once')],
            },
        ),
        migrations.CreateModel(
            name='RoomFork',
            fields=[
                ('session', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='room_fork', serialize=False, to='scheduling.session')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('participant', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='forks', to='rooms.participant')),
                ('room', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='forks', to='rooms.room')),
            ],
        ),
        migrations.CreateModel(
            name='WrongCode',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('address', models.CharField(max_length=64)),
                ('at', models.FloatField()),
            ],
            options={
                'indexes': [models.Index(fields=['address', 'at'], name='wrong_code_of_address')],
            },
        ),
        migrations.CreateModel(
            name='Answer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('value', models.CharField(max_length=200)),
                ('answered_at', models.DateTimeField()),
                ('changes', models.PositiveIntegerField(default=0)),
                ('participant', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='answers', to='rooms.participant')),
                ('question', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='answers', to='rooms.question')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('question', 'participant'), name='answer_once')],
            },
        ),
    ]
